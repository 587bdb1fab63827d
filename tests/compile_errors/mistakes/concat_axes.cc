// TL-SHAPE-006: 784 meets Hidden=128
// type: Tensor<float, 784, Axis<Hidden, 128>>
// type: Tensor<float, Axis<Hidden, 128>, 10>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::concat<1>(m.w1, m.w2)) + tl::mean(x);  // error in: concat<1>(m.w1, m.w2)
  });
  gradient(model, images);
}
