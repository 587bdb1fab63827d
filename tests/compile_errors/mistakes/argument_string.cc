// TL-TREE-001: inner.name: not a tree
// modes: plain
#include "../model.h"

#include <string>

struct Inner {
  tl::Tensor<float, hidden> b;
  std::string name;
};
struct Outer {
  Inner inner;
};

void train(const Outer& o) {
  auto step = tl::jit([](const Outer& p) { return p.inner.b; });  // error in: jit(
  step(o);
}
