// TL-DTYPE-003: the condition must be bool
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::select(x, x, 0));  // error in: select(x, x, 0)
  });
  gradient(model, images);
}
