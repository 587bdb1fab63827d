// TL-SHAPE-001: Hidden=128 meets 10
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// type: Tensor<float, Axis<Batch>, 10>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    tl::Tensor<float, batch, 10> h = tl::matmul(x, m.w1);  // error in: tl::matmul(x, m.w1)
    return tl::mean(h);
  });
  gradient(model, images);
}
