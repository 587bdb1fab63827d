// TL-DTYPE-001: dtypes differ: cast one
// type: Tensor<int, Axis<Batch>>
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images, const Labels& labels) {
  auto gradient = tl::grad([](MODEL, IMAGES x, LABELS y) {
    return tl::mean(x * y);  // error in: x * y
  });
  gradient(model, images, labels);
}
