// TL-AXIS-003: not in both: Embed=128
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// type: Tensor<float, Axis<Embed, 128>, 10>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::contract(tl::matmul(x, m.w1), m.w4, embed));  // error in: contract(tl::matmul(x, m.w1), m.w4, embed)
  });
  gradient(model, images);
}
