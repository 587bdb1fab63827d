// TL-TREE-001: a pointer is no tree
// modes: generic
// place: header
#include "../model.h"

void run(const Images& x) {
  auto each = tl::vmap<batch>([](auto a) { return "a"; });
  auto all = each(x);  // error in: each(x)
}
