// TL-SHAPE-001: 784 meets Hidden=128
// type: Tensor<float, Axis<Batch>, 784>
// type: Tensor<float, Axis<Hidden, 128>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::layer_norm(x, m.b1));  // error in: layer_norm(x, m.b1)
  });
  gradient(model, images);
}
