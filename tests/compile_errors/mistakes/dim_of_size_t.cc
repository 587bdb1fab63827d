// TL-TYPE-001: an axis is an int, Axis, Bounded or any
// modes: plain
// place: header
#include "../model.h"

tl::Tensor<float, sizeof(int)> weights;  // error in: weights
