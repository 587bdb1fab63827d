// TL-TREE-003: has a base: make it a member
// type: Derived
// modes: plain
#include "../model.h"

struct Base {
  tl::Tensor<float, 3> a;
};
struct Derived : Base {
  tl::Tensor<float, 4> b;
};

void train(const Derived& d) {
  auto copy = tl::tree_map([](auto x) { return x; }, d);  // error in: tree_map(
}
