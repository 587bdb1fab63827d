// TL-DTYPE-003: a bool tensor is needed
// type: Tensor<float, Axis<Batch>, 784>
// modes: typed generic
// except: clang generic: 1 error, 19 lines: clang also lists the built-in operator&&, since a condition may convert
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::select(x && x, x, 0));  // error in: x && x
  });
  gradient(model, images);
}
