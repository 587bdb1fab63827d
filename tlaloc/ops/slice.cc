#include "tlaloc/ops/slice.h"

#include "tlaloc/ops/index_value.h"
#include "tlaloc/ops/ragged.h"
#include "tlaloc/ops/strided.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::ops {
namespace {

std::string axis_name(int axis) { return "axis " + std::to_string(axis); }

/// Checks operands `first`, … : one integer start per axis behind the batch axes of operand 0.
void check_starts(InferContext& c, std::size_t first, std::int64_t batch_axes) {
  const Type x = c.in[0];
  if (batch_axes < 0 || batch_axes > x.rank()) {
    c.fail("TL-AXIS-001", "more batch axes than the operand has");
  }
  if (c.in.size() != first + usize(x.rank() - batch_axes)) {
    c.fail("TL-ARITY-001", "one start per axis behind the batch axes is needed");
  }
  for (const Type start : c.in.subspan(first)) {
    if (!is_integer(start.dtype())) c.fail(kDTypeError, "starts must be integers");
    if (start.dtype() != c.in[first].dtype()) {
      c.fail("TL-DTYPE-001", "the starts' dtypes differ", "convert them to one");
    }
    if (start.rank() != batch_axes) {
      c.fail("TL-RANK-001", "a start must have the shape of the batch axes");
    }
    for (int i = 0; i < start.rank(); ++i) {
      c.require_equal(start.dim(i), x.dim(i), "start, batch " + axis_name(i));
    }
  }
}

/// Calls visit(batch index, offset into x) for the window of each batch index; never when there are
/// no elements to move. `window` has the batch axes in front.
template <class F>
void for_each_window(const HostArray& x, std::span<const std::int64_t> window, std::size_t nb,
                     std::span<const HostArray> starts, const F& visit) {
  if (element_count(window) == 0) return;
  const Extents strides = row_major_strides(x.extents());
  const std::int64_t lanes = element_count(std::span(x.extents()).first(nb));
  const std::int64_t lane_size = nb ? strides[nb - 1] : x.size();
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    std::int64_t offset = lane * lane_size;
    for (std::size_t k = 0; k < starts.size(); ++k) {
      const std::int64_t last = x.extents()[nb + k] - window[nb + k];
      offset += strides[nb + k] * clamped_index(index_value(starts[k], lane), last);
    }
    visit(lane, offset);
  }
}

Vals starts_of(const Call& c, std::size_t first) { return {c.in.begin() + first, c.in.end()}; }

/// The starts for operands with lanes in front, and the number of batch axes then. Starts that all
/// lanes share stay shared: the lane axis becomes an axis like others, taken whole.
///
/// On an axis whose size differs between lanes each lane clamps by its own. A window of such a size
/// can't be clamped that way, but one at 0 needs no clamping.
std::pair<Vals, std::int64_t> batched_starts(const Call& c, BatchContext& ctx, std::size_t first,
                                             std::int64_t batch_axes, std::span<const Dim> sizes) {
  Vals limits;
  bool any = batch_axes > 0;
  for (std::size_t k = first; k < c.in.size(); ++k) {
    const auto axis = static_cast<int>(batch_axes) + static_cast<int>(k - first);
    const Dim size = sizes[k - first];
    Val limit;
    if (scalar_value(c.in[k]) != 0.0) {
      require_same_in_lanes(ctx, size, *c.op, "window size");
      if (const Val lengths = ctx.lengths(c.in_types[0].dim(axis))) {
        limit = max(lengths - dim_value(size), scalar_int(0, DType::i64));
      }
    }
    limits.push_back(limit);
    any |= ctx.batched(static_cast<int>(k)) || limit;
  }
  Vals starts;
  for (std::size_t k = first; k < c.in.size(); ++k) {
    Val start = any ? ctx.lifted(static_cast<int>(k)) : c.in[k];
    if (const Val limit = limits[k - first]) {
      const DType dtype = start.dtype();
      start = convert(
          min(convert(start, DType::i64), broadcast_in_dim(limit, start.shape(), axis_range(0, 1))),
          dtype);
    }
    starts.push_back(start);
  }
  if (any) return {starts, batch_axes + 1};
  const DType dtype = starts.empty() ? DType::i64 : starts[0].dtype();
  starts.insert(starts.begin(), scalar_int(0, dtype));
  return {starts, 0};
}

}  // namespace

// ---- slice ----

void Slice::infer(InferContext& c) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  const SliceAttrs& a = c.as<SliceAttrs>();
  const Type x = c.in[0];
  if (x.encoding()) c.fail(kDTypeError, "does not accept quantized values", "dequantize first");
  const std::size_t rank = usize(x.rank());
  if (a.start.size() != rank || a.limit.size() != rank || a.strides.size() != rank) {
    c.fail("TL-RANK-001", "one start, limit and stride per axis is needed");
  }
  std::vector<Dim> shape;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim start = a.start[usize(i)], limit = a.limit[usize(i)], stride = a.strides[usize(i)];
    c.require_less_equal(0, start, "start on " + axis_name(i));
    c.require_less_equal(start, limit, "start and limit on " + axis_name(i));
    c.require_less_equal(limit, x.dim(i), "limit on " + axis_name(i));
    c.require_less_equal(1, stride, "stride on " + axis_name(i));
    shape.push_back(stride == Dim(1) ? limit - start : ceildiv(limit - start, stride));
  }
  c.out.push_back(x.with_shape(shape));
}
void Slice::eval(EvalContext& c) {
  const SliceAttrs& a = c.as<SliceAttrs>();
  HostArray y = c.make();
  Extents step = row_major_strides(c.in[0].extents());
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < step.size(); ++i) {
    offset += step[i] * c.size_of(a.start[i]);
    // No farther than the axis goes: more would skip to the same place, and may overflow.
    step[i] *= std::min(c.size_of(a.strides[i]), c.in[0].extents()[i]);
  }
  gather_strided(c.in[0], offset, step, y);
  c.out.push_back(std::move(y));
}
Val Slice::simplify(const Call& c) {
  // The same type means the whole axis where the stride is 1: the start can be 0 only.
  const auto& strides = c.as<SliceAttrs>().strides;
  const bool dense = std::ranges::all_of(strides, [](Dim d) { return d == Dim(1); });
  return dense && c.in_types[0] == c.out_types[0] ? c.in[0] : Val{};
}
void Slice::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const SliceAttrs a = c.as<SliceAttrs>();
  Val v = ct[0];
  std::vector<Dim> span;
  for (std::size_t i = 0; i < a.start.size(); ++i) span.push_back(a.limit[i] - a.start[i]);
  if (!std::ranges::all_of(a.strides, [](Dim d) { return d == Dim(1); })) {
    // The elements between the ones that were read get zeros.
    std::vector<Dim> low(span.size(), 0), high, interior;
    for (std::size_t i = 0; i < span.size(); ++i) {
      const Dim n = v.dim(static_cast<int>(i)), gap = a.strides[i] - 1;
      interior.push_back(gap);
      high.push_back(gap == Dim(0) ? Dim(0) : span[i] - (n + max(n - 1, 0) * gap));
    }
    v = pad(v, scalar(0, v.dtype()), low, high, interior);
  }
  Vals starts;
  for (Dim d : a.start) starts.push_back(dim_value(d));
  sink.absorb(0, [=](Val accumulator) {
    const Val window = dynamic_slice(accumulator, starts, span);
    return dynamic_update_slice(accumulator, window + v, starts);
  });
}
void Slice::batch(const Call& c, BatchContext& ctx) {
  const SliceAttrs& a = c.as<SliceAttrs>();
  for (std::size_t i = 0; i < a.start.size(); ++i) {
    require_same_in_lanes(ctx, a.start[i], *c.op, "start");
    require_same_in_lanes(ctx, a.strides[i], *c.op, "stride");
  }
  ctx.set(0, slice(ctx.lifted(0), prepended(0, a.start), prepended(ctx.lanes(), a.limit),
                   prepended(1, a.strides)));
}

// ---- dynamic_slice ----

void DynamicSlice::infer(InferContext& c) {
  const DynamicSliceAttrs& a = c.as<DynamicSliceAttrs>();
  if (c.in.empty()) c.fail("TL-ARITY-001", "takes an operand and its starts");
  const Type x = c.in[0];
  if (x.encoding()) c.fail(kDTypeError, "does not accept quantized values", "dequantize first");
  check_starts(c, 1, a.batch_axes);
  if (a.sizes.size() != usize(x.rank() - a.batch_axes)) {
    c.fail("TL-RANK-001", "one size per axis behind the batch axes is needed");
  }
  std::vector<Dim> shape(x.shape().begin(), x.shape().begin() + a.batch_axes);
  for (Dim size : a.sizes) {
    const int axis = static_cast<int>(shape.size());
    c.require_less_equal(0, size, "size on " + axis_name(axis));
    c.require_less_equal(size, x.dim(axis), "size on " + axis_name(axis));
    shape.push_back(size);
  }
  c.out.push_back(x.with_shape(shape));
}
void DynamicSlice::eval(EvalContext& c) {
  const std::size_t nb = usize(c.as<DynamicSliceAttrs>().batch_axes);
  HostArray y = c.make();
  const Extents strides = row_major_strides(c.in[0].extents());
  const Extents window(y.extents().begin() + static_cast<std::ptrdiff_t>(nb), y.extents().end());
  const std::int64_t size = y.size() ? element_count(window) : 0;
  for_each_window(c.in[0], y.extents(), nb, std::span(c.in).subspan(1),
                  [&](std::int64_t lane, std::int64_t offset) {
                    copy_window(c.in[0], offset, std::span(strides).subspan(nb), y, lane * size,
                                window);
                  });
  c.out.push_back(std::move(y));
}
Val DynamicSlice::simplify(const Call& c) {
  return c.in_types[0] == c.out_types[0] ? c.in[0] : Val{};
}
void DynamicSlice::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const DynamicSliceAttrs& a = c.as<DynamicSliceAttrs>();
  if (dx[0]) dy[0] = dynamic_slice(dx[0], starts_of(c, 1), a.sizes, a.batch_axes);
}
void DynamicSlice::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const DynamicSliceAttrs a = c.as<DynamicSliceAttrs>();
  const Val v = ct[0];
  sink.absorb(0, [=, starts = starts_of(c, 1)](Val accumulator) {
    const Val window = dynamic_slice(accumulator, starts, a.sizes, a.batch_axes);
    return dynamic_update_slice(accumulator, window + v, starts, a.batch_axes);
  });
}
void DynamicSlice::batch(const Call& c, BatchContext& ctx) {
  const DynamicSliceAttrs& a = c.as<DynamicSliceAttrs>();
  bool ragged = false;
  for (Dim d : c.in_types[0].shape()) ragged |= is_ragged(ctx, d);
  for (Dim d : a.sizes) ragged |= is_ragged(ctx, d);
  if (!ctx.batched(0) && a.batch_axes == 0 && c.in.size() > 1 && !ragged) {
    // One window per lane out of a shared operand: a gather reads it without copies of the operand.
    Vals columns;
    for (std::size_t k = 1; k < c.in.size(); ++k) {
      columns.push_back(reshape(ctx.lifted(static_cast<int>(k)), std::vector<Dim>{ctx.lanes(), 1}));
    }
    const std::int64_t rank = c.in_types[0].rank();
    ctx.set(0, gather(c.in[0], concatenate(columns, 1),
                      {.dims = {.window_axes = axis_range(1, rank),
                                .index_map = axis_range(0, rank),
                                .vector_axis = 1},
                       .sizes = a.sizes}));
    return;
  }
  const auto [starts, batch_axes] = batched_starts(c, ctx, 1, a.batch_axes, a.sizes);
  const auto sizes = batch_axes ? a.sizes : prepended(ctx.lanes(), a.sizes);
  ctx.set(0, dynamic_slice(ctx.lifted(0), starts, sizes, batch_axes));
}

// ---- dynamic_update_slice ----

void DynamicUpdateSlice::infer(InferContext& c) {
  const std::int64_t nb = c.as<DynamicUpdateSliceAttrs>().batch_axes;
  if (c.in.size() < 2) c.fail("TL-ARITY-001", "takes an operand, an update and the starts");
  const Type x = c.in[0], update = c.in[1];
  if (x.encoding() || update.encoding()) c.fail(kDTypeError, "does not accept quantized values");
  if (x.dtype() != update.dtype()) c.fail("TL-DTYPE-001", "dtypes differ", "convert the update");
  if (x.rank() != update.rank()) c.fail("TL-RANK-001", "ranks differ", "reshape the update");
  check_starts(c, 2, nb);
  for (int i = 0; i < x.rank(); ++i) {
    if (i < nb)
      c.require_equal(update.dim(i), x.dim(i), "update, batch " + axis_name(i));
    else
      c.require_less_equal(update.dim(i), x.dim(i), "update, " + axis_name(i));
  }
  c.out.push_back(x);
}
void DynamicUpdateSlice::eval(EvalContext& c) {
  const std::size_t nb = usize(c.as<DynamicUpdateSliceAttrs>().batch_axes);
  HostArray x = c.take(0);
  const HostArray& update = c.in[1];
  const Extents strides = row_major_strides(x.extents());
  const Extents window(update.extents().begin() + static_cast<std::ptrdiff_t>(nb),
                       update.extents().end());
  const std::int64_t size = update.size() ? element_count(window) : 0;
  x.mutable_data();  // copies now unless unique, so that no offset below meets another buffer
  for_each_window(x, update.extents(), nb, std::span(c.in).subspan(2),
                  [&](std::int64_t lane, std::int64_t offset) {
                    update_window(update, lane * size, x, offset, std::span(strides).subspan(nb),
                                  window);
                  });
  c.out.push_back(std::move(x));
}
Val DynamicUpdateSlice::simplify(const Call& c) {
  return c.in_types[0] == c.in_types[1] ? c.in[1] : Val{};
}
void DynamicUpdateSlice::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] =
      dynamic_update_slice(dx[0] ? dx[0] : zeros_like(c.in[0]), dx[1] ? dx[1] : zeros_like(c.in[1]),
                           starts_of(c, 2), c.as<DynamicUpdateSliceAttrs>().batch_axes);
}
void DynamicUpdateSlice::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const std::int64_t nb = c.as<DynamicUpdateSliceAttrs>().batch_axes;
  const Vals starts = starts_of(c, 2);
  const Type update = c.in_types[1];
  // The read stands before the update: the other way round the update would have to copy.
  if (!c.in[1]) sink.add(1, dynamic_slice(ct[0], starts, update.shape().subspan(usize(nb)), nb));
  if (!c.in[0]) sink.add(0, dynamic_update_slice(ct[0], zeros(update), starts, nb));
}
void DynamicUpdateSlice::batch(const Call& c, BatchContext& ctx) {
  const std::int64_t nb = c.as<DynamicUpdateSliceAttrs>().batch_axes;
  const auto sizes = c.in_types[1].shape().subspan(usize(nb));
  const auto [starts, batch_axes] = batched_starts(c, ctx, 2, nb, sizes);
  const Val x = ctx.lifted(0);
  Val update = ctx.lifted(1);
  // Beyond a lane's own size of the update the operand stays.
  Val inside = full(1, update.type().with_dtype(DType::boolean));
  const Val all = inside;
  for (int i = static_cast<int>(nb); i < c.in_types[1].rank(); ++i) {
    inside = ctx.mask_ragged(inside, i + 1, ir::Identity::zero);
  }
  if (inside != all) {
    const auto window = update.shape().subspan(usize(batch_axes));
    update = select(inside, update, dynamic_slice(x, starts, window, batch_axes));
  }
  ctx.set(0, dynamic_update_slice(x, update, starts, batch_axes));
}

TLALOC_ROW(Slice);
TLALOC_ROW(DynamicSlice);
TLALOC_ROW(DynamicUpdateSlice);

// ---- the vocabulary ----

Val slice(Val x, std::span<const Dim> start, std::span<const Dim> limit,
          std::span<const Dim> strides) {
  return ir::Builder::current().emit(rows::Slice,
                                     ir::make_attr(SliceAttrs{{start.begin(), start.end()},
                                                              {limit.begin(), limit.end()},
                                                              {strides.begin(), strides.end()}}),
                                     {x});
}
Val slice(Val x, std::span<const Dim> start, std::span<const Dim> limit) {
  return slice(x, start, limit, std::vector<Dim>(start.size(), 1));
}
Val slice_axis(Val x, int axis, Dim start, Dim limit) {
  std::vector<Dim> low(usize(x.rank()), 0), high(x.shape().begin(), x.shape().end());
  low[usize(axis)] = start;
  high[usize(axis)] = limit;
  return slice(x, low, high);
}
Val dynamic_slice(Val x, std::span<const Val> starts, std::span<const Dim> sizes,
                  std::int64_t batch_axes) {
  Vals in{x};
  in.insert(in.end(), starts.begin(), starts.end());
  return ir::Builder::current().emit(
      rows::DynamicSlice,
      ir::make_attr(DynamicSliceAttrs{{sizes.begin(), sizes.end()}, batch_axes}), in);
}
Val dynamic_update_slice(Val x, Val update, std::span<const Val> starts, std::int64_t batch_axes) {
  Vals in{x, update};
  in.insert(in.end(), starts.begin(), starts.end());
  return ir::Builder::current().emit(rows::DynamicUpdateSlice,
                                     ir::make_attr(DynamicUpdateSliceAttrs{batch_axes}), in);
}

}  // namespace tlaloc::ops
