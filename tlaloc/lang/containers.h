// Values to and from standard containers.
#pragma once

#include <vector>

#include "tlaloc/lang/tensor.h"

namespace tlaloc {

/// The elements in row-major order. Error: TL-TRACE-001 on a value of a trace.
template <class T, auto... D>
std::vector<T> to_vector(const Tensor<T, D...>& x, Where where = Where::current()) {
  const auto elements = x.data(where);
  return std::vector<T>(elements.begin(), elements.end());
}

}  // namespace tlaloc
