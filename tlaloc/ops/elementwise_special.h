// The error function and its relatives.
#pragma once

#include <numbers>

#include "tlaloc/ops/elementwise_math.h"

namespace tlaloc::ops {

/// Inverse of erf by the polynomials of M. Giles, "Approximating the erfinv function", GPU
/// Computing Gems 2 (2010): relative error below 6e-7 in f32 and 2e-15 in f64.
float erf_inv_value(float x);
double erf_inv_value(double x);

struct Erf : SmoothUnary {
  static constexpr OpInfo kInfo{"erf", "2/sqrt(pi) times the integral of exp(-t^2) from 0 to x."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::erf(x);
  }
  static Val jvp(Val x, Val, Val dx) {
    return dx * ((2 * std::numbers::inv_sqrtpi) * exp(neg(x * x)));
  }
};
struct Erfc : SmoothUnary {
  static constexpr OpInfo kInfo{"erfc", "1 - erf(x) without cancellation for large x."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::erfc(x);
  }
  static Val jvp(Val x, Val, Val dx) {
    return dx * ((-2 * std::numbers::inv_sqrtpi) * exp(neg(x * x)));
  }
};
struct ErfInv : SmoothUnary {
  static constexpr OpInfo kInfo{"erf_inv", "Inverse of erf; infinite at -1 and 1, NaN outside."};
  template <std::floating_point T>
  static T eval(T x) {
    return erf_inv_value(x);
  }
  static Val jvp(Val, Val y, Val dx) {
    return dx * ((0.5 / std::numbers::inv_sqrtpi) * exp(y * y));
  }
};

}  // namespace tlaloc::ops
