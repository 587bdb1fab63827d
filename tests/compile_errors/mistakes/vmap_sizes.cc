// TL-VMAP-003: the mapped sizes differ
// type: Tensor<float, 3>
// type: Tensor<float, 4>
// modes: plain
#include "../model.h"

void run(const tl::Tensor<float, 3>& a, const tl::Tensor<float, 4>& b) {
  auto mapped = tl::vmap<0>([](auto x, auto y) { return x + y; });
  mapped(a, b);  // error in: mapped(a, b)
}
