// TL-TYPE-005: T is float, double, an integer, bool, Half or BFloat16
// modes: plain
// place: header
#include "../model.h"

tl::Tensor<long double, 3> weights;  // error in: weights
