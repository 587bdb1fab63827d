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

/// Which axis is what. Spatial axes go together pairwise.
struct ConvDims {
  std::int64_t lhs_batch = 0, lhs_feature = 1;
  AxisList lhs_spatial;
  std::int64_t rhs_in = 1, rhs_out = 0;
  AxisList rhs_spatial;
  std::int64_t out_batch = 0, out_feature = 1;
  AxisList out_spatial;
  bool operator==(const ConvDims&) const = default;
  static constexpr auto fields() {
    return std::tuple(
        ir::field("lhs_batch", &ConvDims::lhs_batch),
        ir::field("lhs_feature", &ConvDims::lhs_feature),
        ir::field("lhs_spatial", &ConvDims::lhs_spatial), ir::field("rhs_in", &ConvDims::rhs_in),
        ir::field("rhs_out", &ConvDims::rhs_out), ir::field("rhs_spatial", &ConvDims::rhs_spatial),
        ir::field("out_batch", &ConvDims::out_batch),
        ir::field("out_feature", &ConvDims::out_feature),
        ir::field("out_spatial", &ConvDims::out_spatial));
  }
};
/// One entry per spatial axis in each list. At most one of the group counts is not 1.
struct ConvAttrs {
  ConvDims dims;
  std::vector<std::int64_t> strides;
  std::vector<Dim> low, high;  ///< zeros around the (dilated) lhs; negative crops
  std::vector<std::int64_t> lhs_dilation, rhs_dilation;
  std::vector<bool> reversed;  ///< the kernel is read from its end
  Dim feature_groups = 1, batch_groups = 1;
  static constexpr auto fields() {
    return std::tuple(ir::field("dims", &ConvAttrs::dims),
                      ir::field("strides", &ConvAttrs::strides), ir::field("low", &ConvAttrs::low),
                      ir::field("high", &ConvAttrs::high),
                      ir::field("lhs_dilation", &ConvAttrs::lhs_dilation),
                      ir::field("rhs_dilation", &ConvAttrs::rhs_dilation),
                      ir::field("reversed", &ConvAttrs::reversed),
                      ir::field("feature_groups", &ConvAttrs::feature_groups),
                      ir::field("batch_groups", &ConvAttrs::batch_groups));
  }
};
/// Attributes for `spatial` axes: lhs and result [batch, feature, spatial…], rhs [out, in,
/// spatial…], strides and dilations 1, no padding.
ConvAttrs plain_convolution(int spatial);
/// The lhs, dilated and padded with zeros, under the windows of rhs. Contracts the features.
Val convolution(Val lhs, Val rhs, ConvAttrs attrs);

/// The lower L with A = L L^T, over leading batch axes; NaN where A is not positive definite. Reads
/// the lower triangle only.
Val cholesky(Val a);

struct TriangularAttrs {
  bool left = true;        ///< op(A) X = B; otherwise X op(A) = B
  bool lower = true;       ///< the triangle of A that is read; the other one is taken as zero
  bool unit = false;       ///< the diagonal is not read and taken as one
  bool transpose = false;  ///< op(A) = A^T
  static constexpr auto fields() {
    return std::tuple(ir::field("left", &TriangularAttrs::left),
                      ir::field("lower", &TriangularAttrs::lower),
                      ir::field("unit", &TriangularAttrs::unit),
                      ir::field("transpose", &TriangularAttrs::transpose));
  }
};
Val triangular_solve(Val a, Val b, TriangularAttrs attrs = {});
/// x on and below the diagonal of the last two axes, zero elsewhere; `lower` false: on and above
/// it. `strict` leaves out the diagonal.
Val triangle(Val x, bool lower, bool strict = false);

}  // namespace tlaloc::ops
