// TL-TYPE-002: not a tensor
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::matmul(x, "w1"));  // error in: matmul(x, "w1")
  });
  gradient(model, images);
}
