// TL-SHAPE-007: slice out of range of: 784
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::slice<1, 700, 800>(x));  // error in: slice<1, 700, 800>(x)
  });
  gradient(model, images);
}
