// TL-AXIS-001: no such axis: Embed=128
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::take<embed>(x, 0));  // error in: take<embed>(x, 0)
  });
  gradient(model, images);
}
