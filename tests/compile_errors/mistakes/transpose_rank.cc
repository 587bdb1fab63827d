// TL-RANK-001: one index per axis
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::transpose<0, 1, 2>(x));  // error in: transpose<0, 1, 2>(x)
  });
  gradient(model, images);
}
