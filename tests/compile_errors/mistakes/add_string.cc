// TL-TYPE-002: not a tensor
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(x + "bias");  // error in: x + "bias"
  });
  gradient(model, images);
}
