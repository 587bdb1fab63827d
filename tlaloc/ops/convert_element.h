// Conversion of one element, with JAX's rules: a float to an integer truncates and saturates, NaN
// becomes 0; between integers the low bits are kept; anything non-zero (NaN too) is true.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "tlaloc/base/dtype.h"

namespace tlaloc::ops {

template <class To, class From>
To convert_element(From x) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert_element<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(x)) return 0;
    // Both limits as From: the upper one may round up to 2^k, so compare with >=.
    constexpr From kLow = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From kHigh = static_cast<From>(std::numeric_limits<To>::max());
    if (x <= kLow) return std::numeric_limits<To>::min();
    if (x >= kHigh) return std::numeric_limits<To>::max();
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace tlaloc::ops
