// TL-TREE-004: u: a union is no tree
// type: Holder
// modes: plain
#include "../model.h"

union Either {
  int a;
  float b;
};
struct Holder {
  Either u;
};

void train(const Holder& d) {
  auto copy = tl::tree_map([](auto x) { return x; }, d);  // error in: tree_map(
}
