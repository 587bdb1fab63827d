// TL-LOOP-006: return std::pair{carry, y}
// type: Tensor<float>
// modes: generic
// place: header
#include "../model.h"

void run(const Images& images) {
  auto step = [](auto total, auto row) { return total + tl::sum(row); };
  auto both = tl::scan(step, 0.0f, images);  // error in: tl::scan
}
