// TL-RANK-001: ranks differ
// type: Tensor<float, Axis<Hidden, 128>>
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    auto b = m.b1;
    b += tl::matmul(x, m.w1);  // error in: b += tl::matmul(x, m.w1)
    return tl::mean(b);
  });
  gradient(model, images);
}
