// TL-GRAD-001: the loss is no floating scalar
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// modes: generic
// place: header
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](const auto& m, auto x) {
    return tl::matmul(x, m.w1);
  });
  gradient(model, images);  // error in: gradient(model, images)
}
