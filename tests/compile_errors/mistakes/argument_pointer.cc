// TL-TREE-001: w: a pointer is no tree
// type: Holder
// modes: plain
#include "../model.h"

struct Holder {
  tl::Tensor<float, hidden> b;
  const float* w;
};

void train(const Holder& h) {
  auto gradient = tl::grad([](auto p) { return tl::mean(p.b); });
  gradient(h);  // error in: gradient(h)
}
