// TL-DTYPE-003: an index is an integer
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    auto row = x[1.5];  // error in: x[1.5]
    return tl::mean(row);
  });
  gradient(model, images);
}
