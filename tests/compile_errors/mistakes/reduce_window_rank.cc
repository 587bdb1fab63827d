// TL-RANK-001: one window per axis
// type: Tensor<float, Axis<Batch>, 784>
#include "../model.h"

void run(const Images& images) {
  auto plus = [](auto a, auto b) { return a + b; };
  tl::reduce_window<tl::Window{.size = 3}>(plus, 0, images);  // error in: tl::reduce_window
}
