// TL-SHAPE-009: no size in the type: Batch
// type: Tensor<int, Axis<Batch>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images, const Labels& labels) {
  auto gradient = tl::grad([](MODEL, IMAGES x, LABELS y) {
    return tl::mean(tl::one_hot<batch>(y)) + tl::mean(x);  // error in: one_hot<batch>(y)
  });
  gradient(model, images, labels);
}
