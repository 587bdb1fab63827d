// The vocabulary of products and linear algebra. See val_ops.h.
#pragma once

#include <tuple>
#include <vector>

#include "tlaloc/ops/axes.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

/// Axes of the two operands, pairwise: `lhs_batch[i]` with `rhs_batch[i]`, likewise contracting.
struct DotDims {
  AxisList lhs_batch, rhs_batch, lhs_contract, rhs_contract;
  bool operator==(const DotDims&) const = default;
  static constexpr auto fields() {
    return std::tuple(ir::field("lhs_batch", &DotDims::lhs_batch),
                      ir::field("rhs_batch", &DotDims::rhs_batch),
                      ir::field("lhs_contract", &DotDims::lhs_contract),
                      ir::field("rhs_contract", &DotDims::rhs_contract));
  }
};
/// Sums of products over the contracted axes. Result axes: batch, then the free axes of lhs, then
/// those of rhs.
Val dot_general(Val lhs, Val rhs, DotDims dims);
/// Contracts the last axis of `a` with the one before the last of `b` (the only one of a vector);
/// the axes in front of the last two are batch axes and must agree.
Val matmul(Val a, Val b);

}  // namespace tlaloc::ops
