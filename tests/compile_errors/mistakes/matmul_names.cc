// TL-SHAPE-003: Hidden=128 meets Embed=128
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// type: Tensor<float, Axis<Embed, 128>, 10>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::matmul(tl::matmul(x, m.w1), m.w4));  // error in: matmul(tl::matmul(x, m.w1), m.w4)
  });
  gradient(model, images);
}
