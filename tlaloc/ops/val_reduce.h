// The vocabulary of orders and of reductions along axes and over windows. See val_ops.h.
#pragma once

#include <tuple>
#include <vector>

#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

// ---- positions: the first of equals, the first NaN if there is one; the axis vanishes ----
Val argmax(Val x, int axis, DType dtype = DType::i32);
Val argmin(Val x, int axis, DType dtype = DType::i32);

// ---- running reductions ----
struct Running {
  bool reverse = false;    ///< from the last element on
  bool exclusive = false;  ///< without the element itself
};
Val cumsum(Val x, int axis, Running r = {});
Val cumprod(Val x, int axis, Running r = {});
Val cummax(Val x, int axis, Running r = {});
Val cummin(Val x, int axis, Running r = {});
Val cumlogsumexp(Val x, int axis, Running r = {});

// ---- any reducer ----
/// Folds the axes of arrays of one shape: acc… = reducer(acc…, x…) from the starts (of rank 0 or of
/// the results' shape), in row-major order. The reducer is a graph on scalars.
Vals reduce(std::span<const Val> xs, std::span<const Val> starts,
            std::span<const std::int64_t> axes, ir::GraphRef reducer);

// ---- orders: stable, -0 equals +0, NaN counts as the largest ----
/// Sorts the operands together, by the first `num_keys` of them.
Vals sort(std::span<const Val> operands, int axis, int num_keys, bool descending = false);
/// The comparator is a graph on scalars: (a0, b0, a1, b1, …) -> a comes before b.
Vals sort(std::span<const Val> operands, int axis, ir::GraphRef comparator);
struct Sorted {
  Val values, positions;
};
Sorted sort(Val x, int axis, bool descending = false);
/// The k largest of the last axis, in descending order.
Sorted top_k(Val x, Dim k, DType dtype = DType::i32);
/// result[.., i, ..] = x[.., positions[.., i, ..], ..]: equal ranks, equal sizes off the axis.
Val take_along(Val x, Val positions, int axis);

// ---- windows ----
enum class Monoid : std::uint8_t { sum, prod, max, min, all, any };
/// One entry per axis; see window.h.
struct Window {
  std::vector<Dim> size;
  std::vector<std::int64_t> strides;
  std::vector<Dim> low, high;  ///< padding; negative crops
  std::vector<std::int64_t> base_dilation, window_dilation;
  bool operator==(const Window&) const = default;
  static constexpr auto fields() {
    return std::tuple(ir::field("size", &Window::size), ir::field("strides", &Window::strides),
                      ir::field("low", &Window::low), ir::field("high", &Window::high),
                      ir::field("base_dilation", &Window::base_dilation),
                      ir::field("window_dilation", &Window::window_dilation));
  }
};
/// Stride 1, no padding, no dilation.
Window plain_window(std::vector<Dim> size);
/// Reduces each window. Padding holds no elements.
Val reduce_window(Val x, Monoid monoid, Window window);
/// Folds each window of arrays of one shape, as `reduce` does. The starts, of rank 0, are also what
/// padding and the gaps of dilation hold.
Vals reduce_window(std::span<const Val> xs, std::span<const Val> starts, const Window& window,
                   ir::GraphRef reducer);
/// Per window, the value where x is largest (or smallest): the tangent of max pooling.
Val select_and_gather(Val values, Val x, Window window, bool largest = true);
/// Adds one value per window there: its transpose.
Val select_and_scatter(Val values, Val x, Window window, bool largest = true);

}  // namespace tlaloc::ops
