// TL-DTYPE-002: floating number with integers
// type: Tensor<int, Axis<Batch>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images, const Labels& labels) {
  auto gradient = tl::grad([](MODEL, IMAGES x, LABELS y) {
    return tl::mean(tl::cast<float>(y * 2.5)) + tl::mean(x);  // error in: y * 2.5
  });
  gradient(model, images, labels);
}
