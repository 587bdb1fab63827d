// TL-GRAD-001: the loss is no floating scalar
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// modes: typed
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](const Mlp& m, Images x) {  // error in: grad(
    return tl::matmul(x, m.w1);
  });
  gradient(model, images);
}
