// TL-AXIS-002: an axis is named twice: 0
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::transpose<0, 0>(x));  // error in: transpose<0, 0>(x)
  });
  gradient(model, images);
}
