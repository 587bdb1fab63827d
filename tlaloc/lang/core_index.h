// The untyped core, continued: joining, cutting, indexing, sorting, creation. As in core.h, `axes`
// labels the result, and shapes have been decided by the typed rules as far as types tell.
#pragma once

#include "tlaloc/lang/core.h"

namespace tlaloc::core {

// ---- joining and cutting ----

/// Errors: TL-SHAPE-006 (an axis other than `axis` differs).
Ref concat(std::span<const Ref> xs, int axis, AxesSpec axes, Where where);
/// `axis` is the new axis's place in the result. Errors: TL-SHAPE-006.
Ref stack(std::span<const Ref> xs, int axis, AxesSpec axes, Where where);
/// Fills `parts` with equal parts along an axis. Errors: TL-SHAPE-008 (not divisible).
void split(const Ref& x, int axis, std::span<Ref> parts, AxesSpec axes, Where where);
/// Elements low, low + step, … below high; negative bounds count from the end.
/// Errors: TL-SHAPE-007 (out of range).
Ref slice(const Ref& x, int axis, std::int64_t low, std::int64_t high, std::int64_t step,
          AxesSpec axes, Where where);
/// StableHLO's pad; negative amounts cut.
Ref pad(const Ref& x, std::span<const std::int64_t> low, std::span<const std::int64_t> high,
        std::span<const std::int64_t> interior, const Ref& value, AxesSpec axes, Where where);
/// The order of elements turned around along the axes `over`.
Ref reverse(const Ref& x, std::span<const int> over, AxesSpec axes, Where where);
/// Element i moves to (i + shift) mod size.
Ref roll(const Ref& x, const Ref& shift, int axis, AxesSpec axes, Where where);
/// Axis i repeated counts[i] times as a whole.
Ref tile(const Ref& x, std::span<const std::int64_t> counts, AxesSpec axes, Where where);
/// Each element of the axis `count` times in a row.
Ref repeat(const Ref& x, int axis, std::int64_t count, AxesSpec axes, Where where);

// ---- indexing. A negative index counts from the end. A concrete index out of range is UserError
// TL-INDEX-001. In a trace, where nobody can tell, each function says what happens, as in JAX. ----

/// What reading out of range gives in a trace.
enum class Outside : std::uint8_t {
  fill,    ///< NaN, the least signed or greatest unsigned integer, true; without a gradient
  nearest  ///< the element at the nearer end, which gets the gradient too
};
/// The axis is replaced by the axes of `indices`.
Ref take(const Ref& x, int axis, const Ref& indices, AxesSpec axes, Where where,
         Outside outside = Outside::fill);
/// result[.., i, ..] = x[.., indices[.., i, ..], ..]; equal ranks; Outside::fill.
Ref take_along_axis(const Ref& x, int axis, const Ref& indices, AxesSpec axes, Where where);
enum class ScatterOp : std::uint8_t { add, mul, min, max, set, count };
/// x with updates merged in at indices along an axis; `add` is the transpose of take. In a
/// trace an update out of range is dropped.
Ref scatter(ScatterOp op, const Ref& x, int axis, const Ref& indices, const Ref& updates,
            AxesSpec axes, Where where);
/// 1 where the new last axis's index equals the id, else 0; an id out of range gives zeros.
Ref one_hot(const Ref& ids, DType dtype, AxesSpec axes, Where where);
/// `size` elements from `start`, an integer scalar that is clamped to fit.
Ref dynamic_slice(const Ref& x, int axis, const Ref& start, std::int64_t size, AxesSpec axes,
                  Where where);
/// x with `block` written at `starts`, one integer scalar per axis, clamped to fit.
Ref dynamic_update(const Ref& x, const Ref& block, std::span<const Ref> starts, AxesSpec axes,
                   Where where);
/// The size of an axis as an i64 scalar: a number in a trace too.
Ref axis_size(const Ref& x, int axis, Where where);

// ---- orders and running totals ----

enum class CumulativeOp : std::uint8_t { sum, prod, max, min, logsumexp, count };
/// Inclusive; from the last element on when `reverse`.
Ref cumulative(CumulativeOp op, const Ref& x, int axis, bool reverse, AxesSpec axes, Where where);
/// Stable; NaN counts as the largest.
Ref sort(const Ref& x, int axis, bool descending, AxesSpec axes, Where where);
/// The i32 positions that sort.
Ref argsort(const Ref& x, int axis, bool descending, AxesSpec axes, Where where);
/// The first k of the last axis in descending order, and their i32 positions.
void top_k(const Ref& x, std::int64_t k, Ref& values, Ref& positions, AxesSpec axes, Where where);
/// The i32 position of the largest or smallest element, the first of equals; NaN wins. `axis` -1:
/// of all elements in row-major order.
Ref arg_extreme(bool largest, const Ref& x, int axis, bool keep, AxesSpec axes, Where where);

// ---- creation. An axis without a size takes it from `size_like`, as in broadcast. ----

/// A value in x's dtype, shape and axes.
Ref full_like(const Ref& x, double value, Where where);
/// start + step i along the only axis.
Ref arange(const Ref& start, const Ref& step, std::span<const Ref> size_like, AxesSpec axes,
           Where where);
/// From start to stop, both included, along the only axis.
Ref linspace(const Ref& start, const Ref& stop, AxesSpec axes, Where where);
/// 1 on the diagonal of the last two axes, shifted up by `diagonal`.
Ref eye(DType dtype, std::int64_t diagonal, std::span<const Ref> size_like, AxesSpec axes,
        Where where);
/// x with zeros above (lower) or below (upper) the given diagonal of the last two axes.
Ref triangle(const Ref& x, bool upper, std::int64_t diagonal, AxesSpec axes, Where where);

}  // namespace tlaloc::core
