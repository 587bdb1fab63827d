// TL-DTYPE-003: an index is an integer
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
// except: clang typed: 2 errors, 19 lines: clang drops a statement with a deleted operator[], and without its return
//   statement the lambda returns nothing
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(x[1.5]);  // error in: x[1.5]
  });
  gradient(model, images);
}
