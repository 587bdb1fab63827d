// Reading integers of any type as positions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "tlaloc/base/host_array.h"

namespace tlaloc::ops {

/// Element i of an integer array; a u64 beyond the i64 range saturates, so that it stays out of
/// bounds on the side where it is.
inline std::int64_t index_value(const HostArray& a, std::int64_t i) {
  const std::int64_t v = a.element_int(i);
  return a.dtype() == DType::u64 && v < 0 ? std::numeric_limits<std::int64_t>::max() : v;
}
/// `i` moved into [0, last].
inline std::int64_t clamped_index(std::int64_t i, std::int64_t last) {
  return std::clamp(i, std::int64_t{0}, std::max(last, std::int64_t{0}));
}

}  // namespace tlaloc::ops
