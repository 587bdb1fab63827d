// TL-SHAPE-001: Hidden=128 meets 784
// type: Tensor<float, Axis<Batch>, Axis<Hidden, 128>>
// type: Tensor<float, Axis<Batch>, 784>
// modes: plain
#include "../model.h"

void train(const Mlp& model, const tl::Tensor<float, batch, hidden>& h) {
  auto gradient = tl::grad([](const Mlp&, Images x) { return tl::mean(x); });
  gradient(model, h);  // error in: gradient(model, h)
}
