// TL-DTYPE-003: bool in arithmetic: cast it
// type: Tensor<bool, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(x * ((x > 0) + (x < 1)));  // error in: (x > 0) + (x < 1)
  });
  gradient(model, images);
}
