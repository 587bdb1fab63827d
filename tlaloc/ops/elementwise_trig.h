// Trigonometric and hyperbolic functions beside sin, cos and tanh. Derivatives avoid x * x where it
// would overflow or cancel: (1 - x) * (1 + x) is exact near 1, and cosh(asinh(x)) stays finite.
#pragma once

#include "tlaloc/ops/elementwise_math.h"

namespace tlaloc::ops {

struct Tan : SmoothUnary {
  static constexpr OpInfo kInfo{"tan", "Tangent of an angle in radians."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::tan(x);
  }
  static Val jvp(Val, Val y, Val dx) { return dx * (1 + y * y); }
};
struct Asin : SmoothUnary {
  static constexpr OpInfo kInfo{"asin", "Inverse sine; NaN outside [-1, 1]."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::asin(x);
  }
  static Val jvp(Val x, Val, Val dx) { return dx * rsqrt((1 - x) * (1 + x)); }
};
struct Acos : SmoothUnary {
  static constexpr OpInfo kInfo{"acos", "Inverse cosine; NaN outside [-1, 1]."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::acos(x);
  }
  static Val jvp(Val x, Val, Val dx) { return neg(dx * rsqrt((1 - x) * (1 + x))); }
};
struct Atan : SmoothUnary {
  static constexpr OpInfo kInfo{"atan", "Inverse tangent."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::atan(x);
  }
  static Val jvp(Val x, Val, Val dx) { return dx / (1 + x * x); }
};
struct Sinh : SmoothUnary {
  static constexpr OpInfo kInfo{"sinh", "Hyperbolic sine."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::sinh(x);
  }
  static Val jvp(Val x, Val, Val dx) { return dx * cosh(x); }
};
struct Cosh : SmoothUnary {
  static constexpr OpInfo kInfo{"cosh", "Hyperbolic cosine."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::cosh(x);
  }
  static Val jvp(Val x, Val, Val dx) { return dx * sinh(x); }
};
struct Asinh : SmoothUnary {
  static constexpr OpInfo kInfo{"asinh", "Inverse hyperbolic sine."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::asinh(x);
  }
  static Val jvp(Val, Val y, Val dx) { return dx / cosh(y); }
};
struct Acosh : SmoothUnary {
  static constexpr OpInfo kInfo{"acosh", "Inverse hyperbolic cosine; NaN below 1."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::acosh(x);
  }
  static Val jvp(Val x, Val, Val dx) { return dx * (rsqrt(x - 1) * rsqrt(x + 1)); }
};
struct Atanh : SmoothUnary {
  static constexpr OpInfo kInfo{"atanh", "Inverse hyperbolic tangent; NaN outside [-1, 1]."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::atanh(x);
  }
  static Val jvp(Val x, Val, Val dx) { return dx / ((1 - x) * (1 + x)); }
};

}  // namespace tlaloc::ops
