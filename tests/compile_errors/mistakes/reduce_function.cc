// TL-RANK-001: matmul of a scalar: use *
// type: Tensor<float>
// modes: generic
#include "../model.h"

void run(const Images& images) {
  auto product = [](auto all, auto x) {
    return tl::matmul(all, x);  // error in: tl::matmul(all, x)
  };
  auto last = tl::reduce<1>(product, 1, images);
}
