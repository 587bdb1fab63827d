// The vocabulary of orders and of reductions along axes and over windows. See val_ops.h.
#pragma once

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

// ---- orders ----
struct Sorted {
  Val values, positions;
};
/// Stable; NaN counts as the largest.
Sorted sort(Val x, int axis, bool descending = false);
/// result[.., i, ..] = x[.., positions[.., i, ..], ..]: equal ranks, equal sizes off the axis.
Val take_along(Val x, Val positions, int axis);

}  // namespace tlaloc::ops
