// TL-LOOP-004: the carry's type changes
// modes: plain
#include "../model.h"

void run(const tl::Scalar<float>& s, const Images& x) {
  auto last = tl::while_loop(  // error in: while_loop(
      [](tl::Scalar<float> a) { return a > 0; }, [&](tl::Scalar<float>) { return x; }, s);
}
