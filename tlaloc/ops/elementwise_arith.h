// Elementwise arithmetic, comparison and selection.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>

#include "tlaloc/ops/kinds.h"

namespace tlaloc::ops {

/// Integer arithmetic wraps: done in the unsigned type, where overflow is defined. 64 bits are used
/// so that the integer promotions of narrow types do not meet signed overflow.
template <class T, class F>
T wrapping(T a, T b, F f) {
  if constexpr (std::is_floating_point_v<T>)
    return f(a, b);
  else
    return static_cast<T>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

struct Neg {
  using Kind = Unary;
  static constexpr OpInfo kInfo{"neg", "-x; integers wrap.", {.cheap = true}};
  template <Number T>
  static T eval(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return -x;
    else
      return wrapping(T(0), x, [](auto a, auto b) { return a - b; });
  }
  static Val simplify(const Call& c);  // --x
  static Val jvp(Val, Val, Val dx) { return neg(dx); }
  static Val transpose(Val ct) { return neg(ct); }
};
/// The derivative at 0 is 0, as in PyTorch (JAX has 1).
struct Abs {
  using Kind = Unary;
  static constexpr OpInfo kInfo{"abs", "|x|; the least integer stays itself.", {.cheap = true}};
  template <Number T>
  static T eval(T x) {
    if constexpr (std::is_floating_point_v<T>)
      return std::abs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0 ? Neg::eval(x) : x;
    else
      return x;
  }
  static Val simplify(const Call& c);  // of an unsigned integer
  static Val jvp(Val x, Val, Val dx) { return dx * sign(x); }
  static constexpr Refusal kNoTranspose = kNotLinear;
};
struct Sign {
  using Kind = Unary;
  static constexpr OpInfo kInfo{"sign", "-1, 0 or 1; keeps -0, +0 and NaN.", {.cheap = true}};
  template <Number T>
  static T eval(T x) {
    if constexpr (std::is_signed_v<T>) {
      if (x < 0) return T(-1);
    }
    return x > 0 ? T(1) : x;
  }
  static Val jvp(Val, Val, Val) { return {}; }
  static constexpr Refusal kNoTranspose = kNotLinear;
};

struct Add {
  using Kind = Binary;
  static constexpr OpInfo kInfo{
      "add", "x + y; integers wrap.", {.commutative = true, .cheap = true}};
  template <Number T>
  static T eval(T x, T y) {
    return wrapping(x, y, [](auto a, auto b) { return a + b; });
  }
  static Val simplify(const Call& c);  // x + (-0.0)
  static Val jvp_x(Val, Val, Val, Val dx) { return dx; }
  static Val jvp_y(Val, Val, Val, Val dy) { return dy; }
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
};
struct Sub {
  using Kind = Binary;
  static constexpr OpInfo kInfo{"sub", "x - y; integers wrap.", {.cheap = true}};
  template <Number T>
  static T eval(T x, T y) {
    return wrapping(x, y, [](auto a, auto b) { return a - b; });
  }
  static Val simplify(const Call& c);  // x - 0.0
  static Val jvp_x(Val, Val, Val, Val dx) { return dx; }
  static Val jvp_y(Val, Val, Val, Val dy) { return neg(dy); }
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
};
struct Mul {
  using Kind = Binary;
  static constexpr OpInfo kInfo{
      "mul", "x * y; integers wrap.", {.commutative = true, .cheap = true}};
  template <Number T>
  static T eval(T x, T y) {
    return wrapping(x, y, [](auto a, auto b) { return a * b; });
  }
  static Val simplify(const Call& c);  // x * 1
  static Val jvp_x(Val, Val y, Val, Val dx) { return dx * y; }
  static Val jvp_y(Val x, Val, Val, Val dy) { return x * dy; }
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
};
struct Div {
  using Kind = Binary;
  static constexpr OpInfo kInfo{
      "div",
      "x / y; integers truncate, x/0 is -1 (all ones), the least integer by -1 is itself.",
      {.cheap = true}};
  template <Number T>
  static T eval(T x, T y) {
    if constexpr (std::is_integral_v<T>) {
      if (y == 0) return static_cast<T>(-1);
      if constexpr (std::is_signed_v<T>) {
        if (y == -1) return Neg::eval(x);
      }
    }
    return static_cast<T>(x / y);
  }
  static Val simplify(const Call& c);  // x / 1
  static Val jvp_x(Val, Val y, Val, Val dx) { return dx / y; }
  static Val jvp_y(Val, Val y, Val z, Val dy) { return neg(dy * (z / y)); }
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
};

/// IEEE 754-2019 maximum: a NaN operand wins, +0 is above -0. A tie shares the tangent equally.
struct Max {
  using Kind = Binary;
  static constexpr OpInfo kInfo{
      "max", "The larger; NaN if either is NaN.", {.commutative = true, .cheap = true}};
  template <class T>
    requires Number<T> || std::same_as<T, bool>
  static T eval(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x)) return x;
      if (std::isnan(y)) return y;
      if (x == y) return std::signbit(x) ? y : x;
    }
    return x > y ? x : y;
  }
  static Val jvp_x(Val x, Val y, Val z, Val dx);
  static Val jvp_y(Val x, Val y, Val z, Val dy) { return jvp_x(y, x, z, dy); }
  static constexpr Refusal kNoTranspose = kNotLinear;
};
struct Min {
  using Kind = Binary;
  static constexpr OpInfo kInfo{
      "min", "The smaller; NaN if either is NaN.", {.commutative = true, .cheap = true}};
  template <class T>
    requires Number<T> || std::same_as<T, bool>
  static T eval(T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x)) return x;
      if (std::isnan(y)) return y;
      if (x == y) return std::signbit(x) ? x : y;
    }
    return x < y ? x : y;
  }
  static Val jvp_x(Val x, Val y, Val z, Val dx) { return Max::jvp_x(x, y, z, dx); }
  static Val jvp_y(Val x, Val y, Val z, Val dy) { return Max::jvp_x(y, x, z, dy); }
  static constexpr Refusal kNoTranspose = kNotLinear;
};

/// Logic: on bool, and bitwise on integers. No tangents.
struct LogicBinary {
  using Kind = Binary;
  static constexpr Refusal kNoJvp{"its operands have no tangents"};
  static constexpr Refusal kNoTranspose{"its operands have no tangents"};
};
struct And : LogicBinary {
  static constexpr OpInfo kInfo{"and", "Bitwise and.", {.commutative = true, .cheap = true}};
  template <std::integral T>
  static T eval(T x, T y) {
    return static_cast<T>(x & y);
  }
};
struct Or : LogicBinary {
  static constexpr OpInfo kInfo{"or", "Bitwise or.", {.commutative = true, .cheap = true}};
  template <std::integral T>
  static T eval(T x, T y) {
    return static_cast<T>(x | y);
  }
};
struct Not {
  using Kind = Unary;
  static constexpr OpInfo kInfo{"not", "Bitwise not; logical on bool.", {.cheap = true}};
  template <std::integral T>
  static T eval(T x) {
    if constexpr (std::is_same_v<T, bool>)
      return !x;
    else
      return static_cast<T>(~x);
  }
  static constexpr Refusal kNoJvp{"its operand has no tangent"};
  static constexpr Refusal kNoTranspose{"its operand has no tangent"};
};

constexpr std::array<std::string_view, 6> enum_names(Comparison) {
  return {"eq", "ne", "lt", "le", "gt", "ge"};
}
struct CompareAttrs {
  Comparison direction = Comparison::eq;
  static constexpr auto fields() {
    return std::tuple(ir::field("direction", &CompareAttrs::direction));
  }
};
struct Compare {
  using Kind = Custom;
  using Attrs = CompareAttrs;
  static constexpr OpInfo kInfo{"compare",
                                "Compares; anything with NaN is false but ne.",
                                {.elementwise = true, .cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void batch(const Call& c, BatchContext& ctx);
  static constexpr Refusal kNoJvp{"a bool has no tangent"};
  static constexpr Refusal kNoTranspose{"a bool has no tangent"};
};

/// p ? a : b. A tangent or cotangent of the side that was not taken is exactly zero.
struct Select {
  using Kind = Custom;
  static constexpr OpInfo kInfo{
      "select", "a where p, else b.", {.elementwise = true, .cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // p ? a : a
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

struct ConvertAttrs {
  DType dtype = DType::f32;
  static constexpr auto fields() { return std::tuple(ir::field("dtype", &ConvertAttrs::dtype)); }
};
struct Convert {
  using Kind = Custom;
  using Attrs = ConvertAttrs;
  static constexpr OpInfo kInfo{"convert",
                                "Changes the element type; see convert_element.h.",
                                {.elementwise = true, .cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // to its own type
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
