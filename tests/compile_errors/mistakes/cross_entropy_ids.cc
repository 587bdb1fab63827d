// TL-DTYPE-003: an index is an integer
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::cross_entropy(tl::matmul(x, m.w1), x));  // error in: cross_entropy(tl::matmul(x, m.w1), x)
  });
  gradient(model, images);
}
