// TL-SHAPE-010: size is not 1: 784
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::squeeze<1>(x));  // error in: squeeze<1>(x)
  });
  gradient(model, images);
}
