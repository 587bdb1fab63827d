// TL-GRAD-005: a tangent has another type
// type: Tensor<float, Axis<Batch>, 784>
// type: Tensor<int, Axis<Batch>>
// modes: plain
#include "../model.h"

void run(const Images& x, const Labels& y) {
  auto forward = tl::jvp([](auto a) { return tl::exp(a); });
  forward(x, y);  // error in: forward(x, y)
}
