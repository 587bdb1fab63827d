// The untyped core behind Tensor and Array: one handle, traced or concrete. Thin on purpose: user
// code includes this, so no <string>, <memory>, <vector> or <functional>.
#pragma once

#include <cstdint>
#include <source_location>
#include <span>
#include <utility>

#include "tlaloc/base/dtype.h"

namespace tlaloc::core {

class Node;

/// A shared, immutable value: a concrete array, or a value of a trace. One pointer wide; copying
/// is out of line so that each typed op stays one call of code.
class Ref {
 public:
  Ref() = default;
  explicit Ref(Node* adopted) noexcept : node_(adopted) {}
  Ref(const Ref& other) noexcept;
  Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Ref();
  explicit operator bool() const { return node_ != nullptr; }
  Node* get() const { return node_; }

 private:
  Node* node_ = nullptr;
};

/// One axis of a type as plain data: what shape rules and run-time checks work on.
struct AxisSpec {
  const char* name = nullptr;  ///< null: anonymous. Static storage.
  std::int64_t size = -1;      ///< -1: not in the type
  std::int64_t bound = -1;     ///< largest size, for bounded axes
  const void* tag = nullptr;   ///< identity of a named axis
  bool any = false;            ///< not even the name is in the type
};
using AxesSpec = std::span<const AxisSpec>;

/// The user's line.
using Where = std::source_location;

// ---- values ----
/// The number converted as `convert` does: rounded to a floating type; truncated and saturated to
/// an integer type, NaN to 0; to bool, whether it is not 0.
Ref scalar(DType dtype, double value);
/// UserError TL-DTYPE-004 when the value does not fit an integer type or bool; floating ones round.
Ref scalar_int(DType dtype, std::int64_t value);
Ref scalar_unsigned(DType dtype, std::uint64_t value);
/// A number in the dtype of `like`. UserError TL-DTYPE-002 for a floating number with integers,
/// TL-DTYPE-004 when it does not fit.
Ref scalar_like(const Ref& like, double value);
Ref scalar_like_int(const Ref& like, std::int64_t value);
/// Copies `count` elements in row-major order. UserError TL-SHAPE-002 when the count does not fit.
Ref from_memory(DType dtype, std::span<const std::int64_t> extents, const void* data,
                std::int64_t count, Where where);
/// The same for a typed tensor: `sizes` is empty or has an entry per axis; an axis that neither it
/// nor its type gives a size is inferred. UserError TL-SHAPE-002, TL-SHAPE-005 (two to infer),
/// TL-BOUND-001.
Ref from_memory(DType dtype, AxesSpec axes, std::span<const std::int64_t> sizes, const void* data,
                std::int64_t count, Where where);
/// Of concrete and traced values. UserError TL-VALUE-001 for an empty handle, as from everything
/// that takes values.
DType dtype(const Ref& x);
int rank(const Ref& x);
/// Whether x is a value of a trace, which no other function here can read.
bool is_traced(const Ref& x);
/// The size of an axis; UserError TL-TRACE-001 when it is symbolic.
std::int64_t extent(const Ref& x, int axis, Where where);
/// Row-major elements of a concrete value; UserError TL-TRACE-001 on a traced one.
const void* data(const Ref& x, Where where);
std::int64_t size(const Ref& x, Where where);
/// The single element of a concrete value. UserError TL-RANK-001, TL-TRACE-001.
double item(const Ref& x, Where where);
std::int64_t item_int(const Ref& x, Where where);
/// The name and, where it is known, the size of an axis.
AxisSpec axis(const Ref& x, int axis);
/// Checks dtype, rank, and each size that both sides know; in a trace, an unknown size becomes a
/// constraint. Returns x with the names of `axes`. UserError TL-SHAPE-002, TL-DTYPE-001,
/// TL-RANK-001, TL-BOUND-001.
Ref check(const Ref& x, DType dtype, AxesSpec axes, Where where);

// ---- operations; `axes` labels the result for errors and printing ----
// clang-format off
enum class UnaryOp : std::uint8_t {
  neg, abs, sign, ceil, floor, round, round_even, exp, expm1, log, log1p, sqrt, rsqrt, cbrt,
  logistic, tanh, sin, cos, tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh, erf, erfc,
  erf_inv, is_finite, logical_not, popcnt, clz, stop_gradient, count
};
enum class BinaryOp : std::uint8_t {
  add, sub, mul, div, rem, pow, max, min, atan2, logical_and, logical_or, logical_xor, shift_left,
  shift_right_arithmetic, shift_right_logical, eq, ne, lt, le, gt, ge, count
};
// clang-format on
enum class ReduceOp : std::uint8_t { sum, prod, max, min, all, any, count };

/// Element by element; the shape stays. UserError TL-DTYPE-004 for an element type that the
/// operation has no meaning for, such as the sine of integers.
Ref unary(UnaryOp op, const Ref& x, AxesSpec axes, Where where);
/// The same on a C++ number, with the result that a scalar tensor of the dtype gives.
double unary_number(UnaryOp op, DType dtype, double x, Where where);
/// Broadcasts both operands to the result; the typed rule has decided that they fit.
/// `axis_of_a[i]` is the result axis of a's axis i, or -1 for a literal 1 that stretches; no other
/// axis does, whatever its size. UserError TL-SHAPE-001.
Ref binary(BinaryOp op, const Ref& a, std::span<const int> axis_of_a, const Ref& b,
           std::span<const int> axis_of_b, AxesSpec axes, Where where);
/// Element by element a where p (bool) holds, else b; a and b have one element type. Broadcasts as
/// binary does; the side that is not taken gets a gradient of exactly 0. UserError TL-SHAPE-001.
Ref select(const Ref& p, std::span<const int> axis_of_p, const Ref& a,
           std::span<const int> axis_of_a, const Ref& b, std::span<const int> axis_of_b,
           AxesSpec axes, Where where);
/// Each element in another type. From floating to integer types: truncated and saturated, NaN is 0;
/// between integers: modulo 2^bits; to bool: whether it is not 0.
Ref convert(const Ref& x, DType dtype, AxesSpec axes, Where where);
/// Folds the axes `over`, which stay with size 1 when `keep`; over none, x stays as it is. Without
/// elements: sum 0, prod 1, all true, any false; max and min the least and the greatest value of
/// the type, which is an infinity where there is one. UserError TL-AXIS-001.
Ref reduce(ReduceOp op, const Ref& x, std::span<const int> over, bool keep, AxesSpec axes,
           Where where);
/// An operand of an einsum: one label per axis, small numbers; -1 for a literal 1 that stretches.
struct Labeled {
  const Ref* value = nullptr;
  std::span<const int> labels;
};
/// Multiplies the operands and sums over the labels that `result` lacks (numpy.einsum). Axes of one
/// label agree in size: UserError TL-SHAPE-003. A label twice in one operand takes the diagonal.
Ref einsum(std::span<const Labeled> operands, std::span<const int> result, AxesSpec axes,
           Where where);
/// Axis i of the result is axis permutation[i] of x.
Ref transpose(const Ref& x, std::span<const int> permutation, AxesSpec axes, Where where);
/// Sizes that the type lacks come from the operand: `from[i]` is the operand axis that result axis
/// i copies its size from, or -1 when `axes[i].size` says it; one -1 with size -1 is inferred.
Ref reshape(const Ref& x, std::span<const int> from, AxesSpec axes, Where where);
/// Drops the axes that are not among `kept`. UserError TL-SHAPE-010 when one has another size
/// than 1.
Ref squeeze(const Ref& x, std::span<const int> kept, AxesSpec axes, Where where);
/// `axis_of_x` as in binary. A result axis without a size takes it from an operand of `size_like`
/// that has an axis of that name, or, when it has no name, the result's rank.
Ref broadcast(const Ref& x, std::span<const int> axis_of_x, std::span<const Ref> size_like,
              AxesSpec axes, Where where);

}  // namespace tlaloc::core
