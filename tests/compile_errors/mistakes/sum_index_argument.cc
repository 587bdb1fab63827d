// TL-AXIS-004: write the index as op<0>(x)
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::sum(x, 0));  // error in: sum(x, 0)
  });
  gradient(model, images);
}
