// TL-VMAP-001: no argument has the axis
// type: Tensor<float, Axis<Batch>, 784>
// modes: plain
#include "../model.h"

void run(const Images& x) {
  auto mapped = tl::vmap<hidden>([](auto a) { return tl::mean(a); });
  mapped(x);  // error in: mapped(x)
}
