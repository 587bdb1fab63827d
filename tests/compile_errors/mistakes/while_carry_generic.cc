// TL-LOOP-004: the carry's type changes
// type: Tensor<float, Axis<Batch>, 784>
// modes: generic
// place: header
#include "../model.h"

void run(const Images& images) {
  auto below = [](auto x) { return tl::max(x) < 10; };
  auto last = tl::while_loop(below, [](auto x) { return tl::transpose(x); }, images);  // error in: tl::while_loop
}
