// TL-DTYPE-001: dtypes differ: cast one
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// type: Tensor<double, Axis<Hidden, 128>, 10>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::matmul(tl::matmul(x, m.w1), m.w3));  // error in: matmul(tl::matmul(x, m.w1), m.w3)
  });
  gradient(model, images);
}
