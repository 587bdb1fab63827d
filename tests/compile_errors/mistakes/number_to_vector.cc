// TL-RANK-001: a number has rank 0: tl::full
// type: Tensor<float, 3>
// modes: plain
#include "../model.h"

tl::Tensor<float, 3> weights = 0.5;  // error in: weights = 0.5
