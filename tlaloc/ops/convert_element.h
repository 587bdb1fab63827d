// Conversion of one element, with JAX's rules: a float to an integer truncates and saturates, NaN
// becomes 0; between integers the low bits are kept; anything non-zero (NaN too) is true. To f16
// and bf16 there is one rounding (XLA's CPU back end goes through f32 and rounds twice).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tlaloc/base/dtype.h"

namespace tlaloc::ops {

/// x cut to float precision with the last bit set if anything was lost ("round to odd"): rounding
/// that to f16 or bf16 gives what rounding x itself would.
inline float float_with_sticky_bit(double x) {
  const auto f = static_cast<float>(x);
  if (static_cast<double>(f) == x || std::isnan(x)) return f;
  const auto bits = std::bit_cast<std::uint32_t>(f);
  return std::bit_cast<float>((std::abs(static_cast<double>(f)) > std::abs(x) ? bits - 1 : bits) |
                              1u);
}
template <std::integral From>
float float_with_sticky_bit(From x) {
  const bool negative = x < From{};
  auto magnitude = static_cast<std::uint64_t>(x);
  if (negative) magnitude = -magnitude;
  const int dropped = std::max(0, 11 - std::countl_zero(magnitude));  // beyond a double's 53 bits
  const std::uint64_t lost = magnitude & ((std::uint64_t{1} << dropped) - 1);
  const auto kept = static_cast<double>(((magnitude >> dropped) | (lost != 0)) << dropped);
  return float_with_sticky_bit(negative ? -kept : kept);
}

template <class To, class From>
To convert_element(From x) {
  if constexpr (std::is_same_v<From, Half> || std::is_same_v<From, BFloat16>) {
    return convert_element<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    if constexpr (std::is_same_v<From, float>)
      return To(x);
    else
      return To(float_with_sticky_bit(x));
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
