// TL-VMAP-002: a field has the axis: use With
// type: Pair
// modes: plain
#include "../model.h"

struct Pair {
  Images x;
  Labels y;
};

void run(const Pair& p) {
  auto mapped = tl::vmap<batch>([](auto a) { return tl::mean(a.x); });
  mapped(p);  // error in: mapped(p)
}
