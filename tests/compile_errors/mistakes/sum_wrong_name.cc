// TL-AXIS-001: no such axis: Embed=128
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::sum(tl::matmul(x, m.w1), embed));  // error in: sum(tl::matmul(x, m.w1), embed)
  });
  gradient(model, images);
}
