// Printing of values, as numpy does it: std::cout << x. In traced code a value prints as its type.
#pragma once

#include <ostream>

#include "tlaloc/lang/inspect.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {

template <class T, auto... D>
std::ostream& operator<<(std::ostream& out, const Tensor<T, D...>& x) {
  return out << core::value_text(x.ref());
}
inline std::ostream& operator<<(std::ostream& out, const Array& x) {
  return out << core::value_text(x.ref());
}

}  // namespace tlaloc
