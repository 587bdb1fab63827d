// TL-SHAPE-008: no equal parts of: 784
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::split<1, 3>(x)[0]);  // error in: split<1, 3>(x)
  });
  gradient(model, images);
}
