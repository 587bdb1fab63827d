// TL-SHAPE-009: an axis lacks a size: give like
// type: float
// modes: typed generic
// except: clang generic: 2 errors, 22 lines: nothing in the call depends on the lambda's parameters, so clang checks it
//   where the lambda is written and once more where it is called
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(x + tl::zeros<float, batch, 784>());  // error in: zeros<float, batch, 784>()
  });
  gradient(model, images);
}
