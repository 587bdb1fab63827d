// TL-SHAPE-009: an axis lacks a size: give like
// type: float
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(x + tl::zeros<float, batch, 784>());  // error in: zeros<float, batch, 784>()
  });
  gradient(model, images);
}
