// TL-EINSUM-001: the result after '->' is missing
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::einsum<"bi,ij">(x, m.w1));  // error in: einsum<"bi,ij">(x, m.w1)
  });
  gradient(model, images);
}
