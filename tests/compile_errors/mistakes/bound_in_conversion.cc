// TL-BOUND-001: 600 meets Length<=512
// type: Tensor<float, 600>
// modes: plain
#include "../model.h"

auto words = tl::as<tl::Tensor<float, length>>(tl::Tensor<float, 600>());  // error in: as<
