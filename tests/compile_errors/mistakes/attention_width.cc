// TL-SHAPE-003: 784 meets Hidden=128
// type: Tensor<float, Axis<Batch>, 784>
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::attention(x, tl::matmul(x, m.w1), x));  // error in: attention(x, tl::matmul(x, m.w1), x)
  });
  gradient(model, images);
}
