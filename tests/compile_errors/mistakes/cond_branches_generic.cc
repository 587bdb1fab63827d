// TL-COND-002: the branches' types differ
// type: Tensor<float, Axis<Batch>, 784>
// modes: generic
// place: header
#include "../model.h"

void run(const Images& images, tl::Scalar<bool> p) {
  auto all = [](auto x) { return x; };
  auto y = tl::cond(p, all, [](auto x) { return tl::sum<0>(x); }, images);  // error in: tl::cond
}
