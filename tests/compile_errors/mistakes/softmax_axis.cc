// TL-AXIS-001: no such axis: 2
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::softmax<2>(x));  // error in: softmax<2>(x)
  });
  gradient(model, images);
}
