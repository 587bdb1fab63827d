// TL-TYPE-003: Array to Tensor: use tl::as
// type: Tensor<float, 3>
// type: Array
// modes: plain
#include "../model.h"

tl::Tensor<float, 3> convert(const tl::Array& a) {
  return a;  // error in: a;
}
