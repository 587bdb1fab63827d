// TL-RANK-001: x: [n, spatial, c]; kernel: [spatial, c, f]
// type: Tensor<float, Axis<Batch>, 784>
// type: Tensor<float, 784, Axis<Hidden, 128>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::conv2d(x, m.w1));  // error in: conv2d(x, m.w1)
  });
  gradient(model, images);
}
