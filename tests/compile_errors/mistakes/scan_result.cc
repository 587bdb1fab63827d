// TL-LOOP-006: return std::pair{carry, y}
// modes: plain
#include "../model.h"

void run(const tl::Scalar<float>& s, const Images& x) {
  auto last = tl::scan(  // error in: scan(
      [](tl::Scalar<float> c, tl::Tensor<float, 784>) { return c; }, s, x);
}
