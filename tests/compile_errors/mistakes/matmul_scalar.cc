// TL-RANK-001: matmul of a scalar: use *
// type: Tensor<float, Axis<Batch>, 784>
// type: Tensor<float>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::matmul(x, tl::mean(m.b1)));  // error in: matmul(x, tl::mean(m.b1))
  });
  gradient(model, images);
}
