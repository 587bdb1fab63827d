// TL-LOOP-004: the carry's type changes
// type: Tensor<bool>
// modes: generic
// place: header
#include "../model.h"

void run(const Images& images) {
  auto beyond = [](auto most, auto x) { return x > most; };
  auto last = tl::reduce<1>(beyond, 0, images);  // error in: tl::reduce
}
