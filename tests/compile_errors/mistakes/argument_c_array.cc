// TL-TREE-004: has a C array: use std::array
// type: Arrays
// modes: plain
#include "../model.h"

struct Arrays {
  tl::Tensor<float, 3> a[2];
  tl::Tensor<float, 4> b;
};

void train(const Arrays& d) {
  auto copy = tl::tree_map([](auto x) { return x; }, d);  // error in: tree_map(
}
