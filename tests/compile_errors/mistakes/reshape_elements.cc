// TL-SHAPE-004: numbers of elements differ
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::reshape<batch, 28, 27>(x));  // error in: reshape<batch, 28, 27>(x)
  });
  gradient(model, images);
}
