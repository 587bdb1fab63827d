// TL-TREE-007: trees of different types
// type: Mlp
// type: Tensor<float, Axis<Batch>, 784>
// modes: plain
#include "../model.h"

void train(const Mlp& m, const Images& x) {
  auto sum = tl::tree_map([](auto a, auto b) { return a + b; }, m, x);  // error in: tree_map(
}
