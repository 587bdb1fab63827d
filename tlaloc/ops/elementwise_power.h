// Powers, remainder, the angle of a point, and clamp.
#pragma once

#include <tuple>

#include "tlaloc/ops/elementwise_arith.h"

namespace tlaloc::ops {

/// z = x - n * y with n the quotient rounded toward zero, so dz/dy = -n. It is taken from the exact
/// z, because x / y may round up to the next integer.
struct Rem {
  using Kind = Binary;
  static constexpr OpInfo kInfo{
      "rem", "Remainder with the dividend's sign; of an integer by 0, the dividend."};
  template <Number T>
  static T eval(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::fmod(x, y);
    } else {
      if (y == 0) return x;
      if constexpr (std::is_signed_v<T>) {
        if (y == -1) return 0;  // the least integer would overflow
      }
      return static_cast<T>(x % y);
    }
  }
  static Val jvp_x(Val, Val, Val, Val dx) { return dx; }
  static Val jvp_y(Val x, Val y, Val z, Val dy) { return neg(dy * round_even((x - z) / y)); }
  static constexpr Refusal kNoTranspose = kNotLinear;
};

/// x^n by squaring; 0^0 is 1.
template <Number T>
T integer_power(T x, std::uint64_t n) {
  T r = 1;
  for (; n; n >>= 1) {
    if (n & 1) r = Mul::eval(r, x);
    if (n > 1) x = Mul::eval(x, x);
  }
  return r;
}

/// The derivative by x at (0, 0) is 0 (JAX has NaN); the one by y is NaN for negative x.
struct Pow {
  using Kind = Binary;
  static constexpr OpInfo kInfo{
      "pow", "x^y; integers wrap, a negative exponent gives 0 unless x is 1 or -1."};
  template <Number T>
  static T eval(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      return std::pow(x, y);
    } else {
      if constexpr (std::is_signed_v<T>) {
        // -1 keeps the parity of the exponent: the low bit of a negative one is the same.
        if (y < 0 && x != 1 && x != -1) return 0;
      }
      return integer_power(x, static_cast<std::uint64_t>(y));
    }
  }
  static Val simplify(const Call& c);  // x^1
  static Val jvp_x(Val x, Val y, Val z, Val dx);
  static Val jvp_y(Val x, Val y, Val z, Val dy);
  static constexpr Refusal kNoTranspose = kNotLinear;
};

struct IntegerPowAttrs {
  std::int64_t exponent = 1;
  static constexpr auto fields() {
    return std::tuple(ir::field("exponent", &IntegerPowAttrs::exponent));
  }
};
struct IntegerPow {
  using Kind = Custom;
  using Attrs = IntegerPowAttrs;
  static constexpr OpInfo kInfo{"integer_pow",
                                "x^exponent; 1 / x^-exponent if it is negative.",
                                {.elementwise = true, .cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // x^0, x^1
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void batch(const Call& c, BatchContext& ctx);
  static constexpr Refusal kNoTranspose = kNotLinear;
};

/// The operands are the point's ordinate and abscissa, in this order.
struct Atan2 {
  using Kind = Binary;
  static constexpr OpInfo kInfo{"atan2", "Angle of the point (y, x), in [-pi, pi]."};
  template <std::floating_point T>
  static T eval(T y, T x) {
    return std::atan2(y, x);
  }
  static Val jvp_x(Val y, Val x, Val, Val dy) { return dy * (x / (y * y + x * x)); }
  static Val jvp_y(Val y, Val x, Val, Val dx) { return neg(dx * (y / (y * y + x * x))); }
  static constexpr Refusal kNoTranspose = kNotLinear;
};

/// Operands: lo, x, hi; a bound has x's shape or rank 0. At a bound nothing has a tangent; where
/// lo > hi the result is hi, and so is the tangent.
struct Clamp {
  using Kind = Custom;
  static constexpr OpInfo kInfo{"clamp", "min(max(lo, x), hi)."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void batch(const Call& c, BatchContext& ctx);
  static constexpr Refusal kNoTranspose = kNotLinear;
};

}  // namespace tlaloc::ops
