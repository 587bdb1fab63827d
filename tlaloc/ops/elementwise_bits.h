// Ops on the bits of an element: counts, shifts, reinterpretation, precision, and is_finite.
#pragma once

#include <bit>
#include <tuple>

#include "tlaloc/ops/elementwise_arith.h"

namespace tlaloc::ops {

struct IsFinite {
  using Kind = Custom;
  static constexpr OpInfo kInfo{"is_finite",
                                "True where x is neither infinite nor NaN.",
                                {.elementwise = true, .cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void batch(const Call& c, BatchContext& ctx);
  static constexpr Refusal kNoJvp{"a bool has no tangent"};
  static constexpr Refusal kNoTranspose{"a bool has no tangent"};
};

struct IntegerUnary {
  using Kind = Unary;
  static constexpr Refusal kNoJvp{"an integer has no tangent"};
  static constexpr Refusal kNoTranspose{"an integer has no tangent"};
};
struct Popcnt : IntegerUnary {
  static constexpr OpInfo kInfo{"popcnt", "Number of one bits.", {.cheap = true}};
  template <Integer T>
  static T eval(T x) {
    return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};
struct Clz : IntegerUnary {
  static constexpr OpInfo kInfo{
      "clz", "Number of zero bits above the highest one bit.", {.cheap = true}};
  template <Integer T>
  static T eval(T x) {
    return static_cast<T>(std::countl_zero(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

struct Xor : LogicBinary {
  static constexpr OpInfo kInfo{
      "xor", "Bitwise exclusive or.", {.commutative = true, .cheap = true}};
  template <std::integral T>
  static T eval(T x, T y) {
    return static_cast<T>(x ^ y);
  }
};

/// An amount that is negative or not below the width shifts every bit out.
template <Integer T>
bool shifts_all(T amount) {
  using U = std::make_unsigned_t<T>;
  return static_cast<U>(amount) >= std::numeric_limits<U>::digits;
}
struct ShiftLeft : LogicBinary {
  static constexpr OpInfo kInfo{
      "shift_left", "x << y; 0 if y is negative or too large.", {.cheap = true}};
  template <Integer T>
  static T eval(T x, T y) {
    return shifts_all(y) ? T(0) : static_cast<T>(static_cast<std::uint64_t>(x) << y);
  }
};
struct ShiftRightArithmetic : LogicBinary {
  static constexpr OpInfo kInfo{
      "shift_right_arithmetic",
      "x >> y filled with the top bit, unsigned types too; all top bit if "
      "y is negative or too large.",
      {.cheap = true}};
  template <Integer T>
  static T eval(T x, T y) {
    using S = std::make_signed_t<T>;
    constexpr int kTop = std::numeric_limits<S>::digits;
    return static_cast<T>(static_cast<S>(x) >> (shifts_all(y) ? kTop : static_cast<int>(y)));
  }
};
struct ShiftRightLogical : LogicBinary {
  static constexpr OpInfo kInfo{"shift_right_logical",
                                "x >> y filled with zeros; 0 if y is negative or too large.",
                                {.cheap = true}};
  template <Integer T>
  static T eval(T x, T y) {
    return shifts_all(y) ? T(0) : static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> y);
  }
};

struct BitcastConvertAttrs {
  DType dtype = DType::f32;
  static constexpr auto fields() {
    return std::tuple(ir::field("dtype", &BitcastConvertAttrs::dtype));
  }
};
/// A narrower type appends an axis of parts, least significant first; a wider one consumes it.
struct BitcastConvert {
  using Kind = Custom;
  using Attrs = BitcastConvertAttrs;
  static constexpr OpInfo kInfo{
      "bitcast_convert", "The same bits as another element type.", {.cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // to its own type
  static void batch(const Call& c, BatchContext& ctx);
  static constexpr Refusal kNoJvp{"reinterpreted bits are no differentiable function"};
  static constexpr Refusal kNoTranspose = kNotLinear;
};

struct ReducePrecisionAttrs {
  std::int64_t exponent_bits = 8, mantissa_bits = 23;
  static constexpr auto fields() {
    return std::tuple(ir::field("exponent_bits", &ReducePrecisionAttrs::exponent_bits),
                      ir::field("mantissa_bits", &ReducePrecisionAttrs::mantissa_bits));
  }
};
/// Tangents and cotangents are rounded too, as by convert to such a type and back.
struct ReducePrecision {
  using Kind = Custom;
  using Attrs = ReducePrecisionAttrs;
  static constexpr OpInfo kInfo{"reduce_precision",
                                "Rounds to a smaller floating format; subnormals of it become 0.",
                                {.elementwise = true, .cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
