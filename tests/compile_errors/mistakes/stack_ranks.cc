// TL-RANK-001: ranks differ
// type: Tensor<float, 784, Axis<Hidden, 128>>
// type: Tensor<float, Axis<Hidden, 128>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::stack<0>(m.w1, m.b1)) + tl::mean(x);  // error in: stack<0>(m.w1, m.b1)
  });
  gradient(model, images);
}
