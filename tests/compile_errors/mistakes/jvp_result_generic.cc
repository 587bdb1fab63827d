// TL-TREE-001: a pointer is no tree
// type: Tensor<float, Axis<Batch>, 784>
// modes: generic
// place: header
#include "../model.h"

void run(const Images& x) {
  auto forward = tl::jvp([](auto a) { return "a"; });
  auto both = forward(x, x);  // error in: forward(x, x)
}
