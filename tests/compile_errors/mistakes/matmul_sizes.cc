// TL-SHAPE-003: 784 meets Hidden=128
// type: Tensor<float, Axis<Batch>, 784>
// type: Tensor<float, Axis<Hidden, 128>, 10>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::matmul(x, m.w2));  // error in: matmul(x, m.w2)
  });
  gradient(model, images);
}
