// TL-COND-001: a bool scalar is needed
// type: Tensor<bool, Axis<Batch>, 784>
// modes: generic
// place: header
#include "../model.h"

void run(const Images& images) {
  auto below = [](auto x) { return x < 10; };
  auto last = tl::while_loop(below, [](auto x) { return 2 * x; }, images);  // error in: tl::while_loop
}
