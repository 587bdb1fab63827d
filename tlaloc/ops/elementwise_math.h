// Elementwise functions of one floating operand.
#pragma once

#include <cmath>
#include <concepts>

#include "tlaloc/ops/kinds.h"

namespace tlaloc::ops {

/// A differentiable, not linear function: most of this file.
struct SmoothUnary {
  using Kind = Unary;
  static constexpr Refusal kNoTranspose = kNotLinear;
};
/// A function whose derivative is zero wherever it exists.
struct StepUnary : SmoothUnary {
  static Val jvp(Val, Val, Val) { return {}; }
};

struct Exp : SmoothUnary {
  static constexpr OpInfo kInfo{"exp", "e^x, elementwise."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::exp(x);
  }
  static Val jvp(Val, Val y, Val dx) { return dx * y; }
};
struct Expm1 : SmoothUnary {
  static constexpr OpInfo kInfo{"expm1", "e^x - 1 without cancellation near 0."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::expm1(x);
  }
  static Val jvp(Val, Val y, Val dx) { return dx * (y + 1); }
};
struct Log : SmoothUnary {
  static constexpr OpInfo kInfo{"log", "Natural logarithm; NaN below 0."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::log(x);
  }
  static Val jvp(Val x, Val, Val dx) { return dx / x; }
};
struct Log1p : SmoothUnary {
  static constexpr OpInfo kInfo{"log1p", "log(1 + x) without cancellation near 0."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::log1p(x);
  }
  static Val jvp(Val x, Val, Val dx) { return dx / (x + 1); }
};
struct Sqrt : SmoothUnary {
  static constexpr OpInfo kInfo{"sqrt", "Square root; its derivative at 0 is inf."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::sqrt(x);
  }
  static Val jvp(Val, Val y, Val dx) { return dx * (0.5 / y); }
};
struct Rsqrt : SmoothUnary {
  static constexpr OpInfo kInfo{"rsqrt", "1 / sqrt(x)."};
  template <std::floating_point T>
  static T eval(T x) {
    return T(1) / std::sqrt(x);
  }
  static Val jvp(Val x, Val y, Val dx) { return dx * (-0.5 * (y / x)); }
};
struct Cbrt : SmoothUnary {
  static constexpr OpInfo kInfo{"cbrt", "Cube root; its derivative at 0 is inf."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::cbrt(x);
  }
  static Val jvp(Val, Val y, Val dx) { return dx / (3.0 * (y * y)); }
};
struct Logistic : SmoothUnary {
  static constexpr OpInfo kInfo{"logistic", "1 / (1 + e^-x)."};
  template <std::floating_point T>
  static T eval(T x) {
    return T(1) / (T(1) + std::exp(-x));
  }
  static Val jvp(Val, Val y, Val dx) { return dx * (y * (1 - y)); }
};
struct Tanh : SmoothUnary {
  static constexpr OpInfo kInfo{"tanh", "Hyperbolic tangent."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::tanh(x);
  }
  static Val jvp(Val, Val y, Val dx) { return dx * (1 - y * y); }
};
struct Sin : SmoothUnary {
  static constexpr OpInfo kInfo{"sin", "Sine of an angle in radians."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::sin(x);
  }
  static Val jvp(Val x, Val, Val dx) { return dx * cos(x); }
};
struct Cos : SmoothUnary {
  static constexpr OpInfo kInfo{"cos", "Cosine of an angle in radians."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::cos(x);
  }
  static Val jvp(Val x, Val, Val dx) { return neg(dx * sin(x)); }
};
struct Ceil : StepUnary {
  static constexpr OpInfo kInfo{"ceil", "Rounds up."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::ceil(x);
  }
};
struct Floor : StepUnary {
  static constexpr OpInfo kInfo{"floor", "Rounds down."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::floor(x);
  }
};
struct Round : StepUnary {
  static constexpr OpInfo kInfo{"round", "Rounds to nearest, halves away from zero."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::round(x);
  }
};
struct RoundEven : StepUnary {
  static constexpr OpInfo kInfo{"round_even", "Rounds to nearest, halves to even."};
  template <std::floating_point T>
  static T eval(T x) {
    return std::nearbyint(x);
  }
};

}  // namespace tlaloc::ops
