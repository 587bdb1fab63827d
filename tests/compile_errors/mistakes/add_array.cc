// TL-TYPE-003: Array meets Tensor: use tl::as
// type: Tensor<float, Axis<Batch>, 784>
// type: Array
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(x + m.raw);  // error in: x + m.raw
  });
  gradient(model, images);
}
