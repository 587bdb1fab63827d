// TL-SHAPE-001: 1 meets 784
// type: Tensor<float, Axis<Batch>, 1>
// type: Tensor<float, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::sum_keep<1>(x) + tl::sum<0>(x));  // error in: tl::sum_keep<1>(x) + tl::sum<0>(x)
  });
  gradient(model, images);
}
