// TL-COND-001: a bool scalar is needed
// type: Tensor<float>
// modes: generic
// place: header
#include "../model.h"

void run(const Images& images) {
  auto difference = [](auto a, auto b) { return a - b; };
  auto sorted = tl::sort_by(difference, images);  // error in: tl::sort_by
}
