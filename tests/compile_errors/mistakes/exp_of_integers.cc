// TL-DTYPE-003: a floating tensor is needed
// type: Tensor<int, Axis<Batch>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images, const Labels& labels) {
  auto gradient = tl::grad([](MODEL, IMAGES x, LABELS y) {
    return tl::mean(tl::exp(y)) + tl::mean(x);  // error in: exp(y)
  });
  gradient(model, images, labels);
}
