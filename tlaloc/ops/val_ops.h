// The vocabulary rules are written in: one function per op on handles, and the usual operators.
// A rank-0 operand of a binary operator is broadcast; anything else must have equal shapes.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>

#include "tlaloc/ir/builder.h"

namespace tlaloc::ops {

using ir::Dim;
using ir::Type;
using ir::Val;
using ir::Vals;

// ---- constants ----
/// A dense constant. Shared, not copied.
Val constant(HostArray value);
/// A scalar constant of that element type; `value` is converted as `convert` would.
Val scalar(double value, DType dtype);
Val scalar_int(std::int64_t value, DType dtype);
/// `value` everywhere: a scalar constant broadcast to `type`.
Val full(double value, Type type);
inline Val zeros(Type type) { return full(0, type); }
inline Val ones(Type type) { return full(1, type); }
inline Val zeros_like(Val x) { return zeros(x.type()); }
/// 0, 1, 2, … along `axis`.
Val iota(Type type, int axis);
/// The size as an i64 scalar.
Val dim_value(Dim d);

// ---- elementwise ----
Val neg(Val x);
Val abs(Val x);
Val sign(Val x);
Val ceil(Val x);
Val floor(Val x);
Val round(Val x);       ///< halves away from zero
Val round_even(Val x);  ///< halves to even
Val exp(Val x);
Val expm1(Val x);
Val log(Val x);
Val log1p(Val x);
Val sqrt(Val x);
Val rsqrt(Val x);
Val cbrt(Val x);
Val logistic(Val x);
Val tanh(Val x);
Val sin(Val x);
Val cos(Val x);
Val tan(Val x);
Val asin(Val x);
Val acos(Val x);
Val atan(Val x);
Val sinh(Val x);
Val cosh(Val x);
Val asinh(Val x);
Val acosh(Val x);
Val atanh(Val x);
Val erf(Val x);
Val erfc(Val x);
Val erf_inv(Val x);
Val is_finite(Val x);
Val popcnt(Val x);
Val clz(Val x);
Val integer_pow(Val x, std::int64_t exponent);
/// Rounded to a format of that many bits, and back.
Val reduce_precision(Val x, int exponent_bits, int mantissa_bits);
Val add(Val a, Val b);
Val sub(Val a, Val b);
Val mul(Val a, Val b);
Val div(Val a, Val b);
Val rem(Val a, Val b);  ///< sign of the dividend
Val pow(Val a, Val b);
Val atan2(Val y, Val x);
Val max(Val a, Val b);
Val min(Val a, Val b);
/// min(max(lo, x), hi). A bound has x's shape or rank 0.
Val clamp(Val lo, Val x, Val hi);
Val logical_and(Val a, Val b);  ///< bitwise on integers
Val logical_or(Val a, Val b);
Val logical_xor(Val a, Val b);
Val logical_not(Val a);
Val shift_left(Val a, Val b);
Val shift_right_arithmetic(Val a, Val b);
Val shift_right_logical(Val a, Val b);
enum class Comparison : std::uint8_t { eq, ne, lt, le, gt, ge };
Val compare(Comparison c, Val a, Val b);
/// p ? a : b, elementwise. `p` is a bool of rank 0 or of the operands' shape.
Val select(Val p, Val a, Val b);
Val convert(Val x, DType dtype);
/// The same bits; a narrower type appends an axis of parts, a wider one consumes it.
Val bitcast_convert(Val x, DType dtype);

// ---- shape ----
/// StableHLO broadcast_in_dim: operand axis i becomes result axis axes[i]. A literal operand dim 1
/// stretches; a symbolic one never does.
Val broadcast_in_dim(Val x, std::span<const Dim> shape, std::span<const std::int64_t> axes);
/// Rank 0, or leading axes: the operand's axes are the last ones of `shape`.
Val broadcast_to(Val x, std::span<const Dim> shape);
Val reshape(Val x, std::span<const Dim> shape);
Val transpose(Val x, std::span<const std::int64_t> permutation);

// ---- reductions; the reduced axes vanish, none means the operand itself ----
Val reduce_sum(Val x, std::span<const std::int64_t> axes);
Val reduce_max(Val x, std::span<const std::int64_t> axes);
Val reduce_min(Val x, std::span<const std::int64_t> axes);
Val reduce_prod(Val x, std::span<const std::int64_t> axes);
Val reduce_or(Val x, std::span<const std::int64_t> axes);
Val reduce_and(Val x, std::span<const std::int64_t> axes);

/// x itself, but never merged with what it is computed from.
Val optimization_barrier(Val x);
/// x itself, without a tangent.
Val stop_gradient(Val x);

// ---- operators ----
// clang-format off
Val operator-(Val x);
Val operator+(Val a, Val b);
Val operator-(Val a, Val b);
Val operator*(Val a, Val b);
Val operator/(Val a, Val b);
Val operator+(Val a, double b);  Val operator+(double a, Val b);
Val operator-(Val a, double b);  Val operator-(double a, Val b);
Val operator*(Val a, double b);  Val operator*(double a, Val b);
Val operator/(Val a, double b);  Val operator/(double a, Val b);
inline Val operator<(Val a, Val b) { return compare(Comparison::lt, a, b); }
inline Val operator<=(Val a, Val b) { return compare(Comparison::le, a, b); }
inline Val operator>(Val a, Val b) { return compare(Comparison::gt, a, b); }
inline Val operator>=(Val a, Val b) { return compare(Comparison::ge, a, b); }
// clang-format on

// ---- what simplify rules and transforms ask ----
/// The value of a scalar constant, also one that was broadcast; nullopt otherwise.
std::optional<double> scalar_value(Val x);
/// Emits `op` again with other operands (same attributes): for rules linear in themselves.
Val emit_like(const ir::Call& c, std::initializer_list<Val> in);

}  // namespace tlaloc::ops
