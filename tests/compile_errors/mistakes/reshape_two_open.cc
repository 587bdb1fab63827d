// TL-SHAPE-005: two sizes to infer
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::reshape<tl::any, tl::any>(x));  // error in: reshape<tl::any, tl::any>(x)
  });
  gradient(model, images);
}
