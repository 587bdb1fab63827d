// TL-SHAPE-009: an axis lacks a size: give like
// type: Tensor<float, Axis<Hidden, 128>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::broadcast_to<batch, hidden>(m.b1)) + tl::mean(x);  // error in: broadcast_to<batch, hidden>(m.b1)
  });
  gradient(model, images);
}
