#include "tlaloc/ops/conv.h"

#include <algorithm>

#include "tlaloc/ops/dim_quotient.h"
#include "tlaloc/ops/kinds.h"
#include "tlaloc/ops/merging.h"
#include "tlaloc/ops/ragged.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/window.h"

namespace tlaloc::ops {
namespace {

Dim dim_at(Type t, std::int64_t axis) { return t.dim(static_cast<int>(axis)); }

bool covers(AxisList axes, std::int64_t a, std::int64_t b, int rank) {
  axes.insert(axes.end(), {a, b});
  return axes.size() == usize(rank) && are_axes(axes, rank);
}

/// What vmap can't pad: sizes that decide where a window's first element or a group lies.
void require_same_places(const Call& c, BatchContext& ctx) {
  const ConvAttrs& a = c.as<ConvAttrs>();
  const Type x = c.in_types[0], k = c.in_types[1];
  for (std::size_t i = 0; i < a.low.size(); ++i) {
    const Dim window = dim_at(k, a.dims.rhs_spatial[i]);
    const Dim first = a.reversed[i] ? a.low[i] - (window - 1) * Dim(a.rhs_dilation[i]) : a.low[i];
    require_same_in_lanes(ctx, first, *c.op, "offset of a window's first element");
  }
  auto require_same_groups = [&](Dim size, Dim groups) {
    if (groups == Dim(1)) return;
    require_same_in_lanes(ctx, quotient(size, groups), *c.op, "size of a group");
  };
  require_same_groups(dim_at(x, a.dims.lhs_feature), a.feature_groups);
  require_same_groups(dim_at(k, a.dims.rhs_out), a.feature_groups);
  require_same_groups(dim_at(k, a.dims.rhs_out), a.batch_groups);
  require_same_groups(dim_at(x, a.dims.lhs_batch), a.batch_groups);
}

// ---- the gradients ----

Val gradient_of_lhs(const ConvAttrs& a, Type lhs, Val rhs, Val ct) {
  const Dim groups = a.batch_groups == Dim(1) ? a.feature_groups : a.batch_groups;
  if (groups != Dim(1)) {
    rhs = merge_axis(axis_to_front(split_axis(rhs, a.dims.rhs_out, groups), a.dims.rhs_out), 0,
                     a.dims.rhs_in + 1);
  }
  ConvAttrs t = a;
  t.dims = {.lhs_batch = a.dims.out_batch,
            .lhs_feature = a.dims.out_feature,
            .lhs_spatial = a.dims.out_spatial,
            .rhs_in = a.dims.rhs_out,
            .rhs_out = a.dims.rhs_in,
            .rhs_spatial = a.dims.rhs_spatial,
            .out_batch = a.dims.lhs_batch,
            .out_feature = a.dims.lhs_feature,
            .out_spatial = a.dims.lhs_spatial};
  t.strides = a.lhs_dilation;
  t.lhs_dilation = a.strides;
  t.reversed.flip();
  t.feature_groups = groups;
  t.batch_groups = 1;
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    const Dim kernel = dilated(dim_at(rhs.type(), a.dims.rhs_spatial[i]), a.rhs_dilation[i]);
    const Dim out = dilated(dim_at(ct.type(), a.dims.out_spatial[i]), a.strides[i]);
    const auto [low, high] = transposed_padding(dim_at(lhs, a.dims.lhs_spatial[i]),
                                                a.lhs_dilation[i], a.low[i], kernel, out);
    t.low[i] = low;
    t.high[i] = high;
  }
  Val v = convolution(ct, rhs, std::move(t));
  if (a.batch_groups != Dim(1)) {
    v = merge_axis(axis_to_front(split_axis(v, a.dims.lhs_feature, groups), a.dims.lhs_feature), 0,
                   a.dims.lhs_batch + 1);
  }
  return reshape(v, lhs.shape());
}

Val gradient_of_rhs(const ConvAttrs& a, Val lhs, Type rhs, Val ct) {
  ConvAttrs t = a;
  t.dims = {.lhs_batch = a.dims.lhs_feature,
            .lhs_feature = a.dims.lhs_batch,
            .lhs_spatial = a.dims.lhs_spatial,
            .rhs_in = a.dims.out_batch,
            .rhs_out = a.dims.out_feature,
            .rhs_spatial = a.dims.out_spatial,
            .out_batch = a.dims.rhs_in,
            .out_feature = a.dims.rhs_out,
            .out_spatial = a.dims.rhs_spatial};
  std::swap(t.feature_groups, t.batch_groups);
  std::swap(t.strides, t.rhs_dilation);
  t.reversed.assign(t.reversed.size(), false);
  AxisList reversed;
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    const Dim kernel = dilated(dim_at(rhs, a.dims.rhs_spatial[i]), a.rhs_dilation[i]);
    const Dim in = dilated(dim_at(lhs.type(), a.dims.lhs_spatial[i]), a.lhs_dilation[i]);
    const Dim out = dilated(dim_at(ct.type(), a.dims.out_spatial[i]), a.strides[i]);
    t.high[i] = out + kernel - in - 1 - a.low[i];
    if (a.reversed[i]) reversed.push_back(a.dims.rhs_spatial[i]);
  }
  std::ranges::sort(reversed);
  return reverse(reshape(convolution(lhs, ct, std::move(t)), rhs.shape()), reversed);
}

}  // namespace

void Convolution::infer(InferContext& c) {
  if (c.in.size() != 2) c.fail("TL-ARITY-001", "takes two operands");
  const ConvAttrs& a = c.as<ConvAttrs>();
  const ConvDims& d = a.dims;
  const Type x = c.in[0], k = c.in[1];
  if (x.encoding() || k.encoding()) c.fail(kDTypeError, "does not accept quantized values");
  if (x.dtype() != k.dtype()) c.fail("TL-DTYPE-001", "dtypes differ", "convert one operand");
  if (x.dtype() == DType::boolean || is_complex(x.dtype())) {
    c.fail(kDTypeError, "does not accept this element type", "convert the operands first");
  }
  if (x.rank() != k.rank() || x.rank() < 2) {
    c.fail("TL-RANK-001", "both operands need a rank of 2 plus the number of spatial axes");
  }
  const std::size_t n = usize(x.rank() - 2);
  if (!covers(d.lhs_spatial, d.lhs_batch, d.lhs_feature, x.rank()) ||
      !covers(d.rhs_spatial, d.rhs_in, d.rhs_out, x.rank()) ||
      !covers(d.out_spatial, d.out_batch, d.out_feature, x.rank())) {
    c.fail("TL-AXIS-001", "the dimension numbers must name each axis once");
  }
  for (std::size_t size : {a.strides.size(), a.low.size(), a.high.size(), a.lhs_dilation.size(),
                           a.rhs_dilation.size(), a.reversed.size()}) {
    if (size != n) c.fail("TL-RANK-001", "each list needs one entry per spatial axis");
  }
  if (a.feature_groups != Dim(1) && a.batch_groups != Dim(1)) {
    c.fail("TL-CONV-001", "feature_groups and batch_groups can't both differ from 1");
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (a.strides[i] < 1 || a.lhs_dilation[i] < 1 || a.rhs_dilation[i] < 1) {
      c.fail("TL-CONV-001", "strides and dilations must be positive");
    }
  }
  c.require_equal(dim_at(x, d.lhs_feature), dim_at(k, d.rhs_in) * a.feature_groups,
                  "features of lhs, and of rhs times feature_groups");
  auto divides = [&](Dim size, Dim groups, const char* what) {
    if (exact_quotient(size, groups)) return;
    c.require_less_equal(1, groups, what);
    c.require_equal(mod(size, groups), 0, what);
  };
  divides(dim_at(k, d.rhs_out), a.feature_groups, "rest of the features by feature_groups");
  divides(dim_at(k, d.rhs_out), a.batch_groups, "rest of the features by batch_groups");
  divides(dim_at(x, d.lhs_batch), a.batch_groups, "rest of the batch by batch_groups");
  std::vector<Dim> shape(usize(x.rank()));
  shape[usize(d.out_batch)] = quotient(dim_at(x, d.lhs_batch), a.batch_groups);
  shape[usize(d.out_feature)] = dim_at(k, d.rhs_out);
  for (std::size_t i = 0; i < n; ++i) {
    const Dim in = dilated(dim_at(x, d.lhs_spatial[i]), a.lhs_dilation[i]);
    const Dim kernel = dilated(dim_at(k, d.rhs_spatial[i]), a.rhs_dilation[i]);
    shape[usize(d.out_spatial[i])] = window_count(in, a.low[i], a.high[i], kernel, a.strides[i]);
  }
  c.out.push_back(x.with_shape(shape));
}

void Convolution::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  Val a, b;
  if (dx[0]) a = emit_like(c, {dx[0], c.in[1]});
  if (dx[1]) b = emit_like(c, {c.in[0], dx[1]});
  dy[0] = Binary::add_tangents(a, b);
}

void Convolution::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  require_linear(c, c.in[0] || c.in[1], "a product of two linear values");
  const ConvAttrs& a = c.as<ConvAttrs>();
  if (!c.in[0])
    sink.add(0, gradient_of_lhs(a, c.in_types[0], c.in[1], ct[0]));
  else
    sink.add(1, gradient_of_rhs(a, c.in[0], c.in_types[1], ct[0]));
}

void Convolution::batch(const Call& c, BatchContext& ctx) {
  ConvAttrs a = c.as<ConvAttrs>();
  const ConvDims& d = a.dims;
  const Dim lanes = ctx.lanes(), batch_groups = a.batch_groups;
  const Dim groups = batch_groups == Dim(1) ? a.feature_groups : batch_groups;
  require_same_places(c, ctx);
  // A window adds up what lies within its reach: the feature axis and the spatial ones. Such a sum
  // over an axis whose size differs between lanes differs even where the values are shared.
  auto summed = [](std::int64_t feature, AxisList spatial) {
    spatial.push_back(feature);
    return spatial;
  };
  const AxisList lhs_summed = summed(d.lhs_feature, d.lhs_spatial),
                 rhs_summed = summed(d.rhs_in, d.rhs_spatial);
  auto lifted = [&](int k, const AxisList& axes) {
    Val x = ctx.lifted(k);
    for (std::int64_t axis : axes) {
      x = ctx.mask_ragged(x, static_cast<int>(axis) + 1, ir::Identity::zero);
    }
    return x;
  };
  auto mapped = [&](int k, const AxisList& axes) {
    return ctx.batched(k) || std::ranges::any_of(axes, [&](std::int64_t axis) {
             return is_ragged(ctx, dim_at(c.in_types[static_cast<std::size_t>(k)], axis));
           });
  };
  const bool right = mapped(1, rhs_summed), left = mapped(0, lhs_summed) || !right;
  Val lhs = left ? lifted(0, lhs_summed) : c.in[0];
  Val rhs = right ? lifted(1, rhs_summed) : c.in[1];
  if (!right) {
    lhs = merge_lanes(lhs, d.lhs_batch, batch_groups);
    ctx.set(0, split_lanes(convolution(lhs, rhs, a), d.out_batch, lanes));
  } else if (!left) {
    rhs = merge_lanes(rhs, d.rhs_out, groups);
    ctx.set(0, split_lanes(convolution(lhs, rhs, a), d.out_feature, lanes, groups));
  } else {
    // One group per lane, and the old groups inside.
    const bool by_batch = batch_groups != Dim(1);
    lhs = merge_lanes(lhs, by_batch ? d.lhs_batch : d.lhs_feature);
    rhs = merge_lanes(rhs, d.rhs_out);
    (by_batch ? a.batch_groups : a.feature_groups) *= lanes;
    ctx.set(0, split_lanes(convolution(lhs, rhs, a), d.out_feature, lanes));
  }
}

TLALOC_ROW(Convolution);

ConvAttrs plain_convolution(int spatial) {
  const std::size_t n = usize(spatial);
  const AxisList axes = axis_range(2, spatial);
  return {.dims = {.lhs_spatial = axes, .rhs_spatial = axes, .out_spatial = axes},
          .strides = std::vector<std::int64_t>(n, 1),
          .low = std::vector<Dim>(n, 0),
          .high = std::vector<Dim>(n, 0),
          .lhs_dilation = std::vector<std::int64_t>(n, 1),
          .rhs_dilation = std::vector<std::int64_t>(n, 1),
          .reversed = std::vector<bool>(n, false)};
}
Val convolution(Val lhs, Val rhs, ConvAttrs attrs) {
  return ir::Builder::current().emit(rows::Convolution, ir::make_attr(std::move(attrs)),
                                     {lhs, rhs});
}

}  // namespace tlaloc::ops
