// TL-COND-001: a bool scalar is needed
// type: Tensor<bool, Axis<Batch>, 784>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::cond(x > 0, [&] { return tl::mean(x); }, [&] { return tl::sum(x); });  // error in: cond(x > 0,
  });
  gradient(model, images);
}
