#include "tlaloc/ops/gather_scatter.h"

#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/indexing.h"
#include "tlaloc/ops/ragged.h"
#include "tlaloc/ops/strided.h"

namespace tlaloc::ops {

HostArray fill_value(DType dtype, std::optional<double> wanted) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    if (wanted) return HostArray::scalar<T>(convert_element<T>(*wanted));
    if constexpr (std::is_floating_point_v<C>) {
      return HostArray::scalar<T>(static_cast<T>(std::numeric_limits<C>::quiet_NaN()));
    } else if constexpr (std::is_signed_v<T>) {
      return HostArray::scalar<T>(std::numeric_limits<T>::min());
    } else {
      return HostArray::scalar<T>(std::numeric_limits<T>::max());
    }
  });
}

Dim count_of(Type indices, const AxisList& positions) {
  Dim n(1);
  for (std::int64_t axis : positions) n *= indices.dim(static_cast<int>(axis));
  return n;
}
/// A window fits into its axis; where there are no indices, no window is taken.
void require_fit(InferContext& c, Dim size, Dim axis, Dim windows, int i) {
  if (ir::less_equal(size, axis) == ir::Truth::yes) return;
  c.require_less_equal(min(windows, Dim(1)) * size, axis,
                       "window size on axis " + std::to_string(i));
}

// ---- gather ----

void Gather::infer(InferContext& c) {
  if (c.in.size() != 2) c.fail("TL-ARITY-001", "takes an operand and indices");
  const GatherAttrs& a = c.as<GatherAttrs>();
  const Type x = c.in[0], indices = c.in[1];
  const int rank = windowed_rank(a.dims, x, indices);
  check_index_dims(c, a.dims, x, indices, rank);
  if (a.sizes.size() != usize(x.rank())) c.fail("TL-RANK-001", "one window size per operand axis");
  const AxisList positions = index_axes(a.dims, indices.rank());
  const Dim windows = count_of(indices, positions);
  for (int i = 0; i < x.rank(); ++i) {
    const Dim size = a.sizes[usize(i)];
    if (contains(a.dims.collapsed_axes, i) || contains(a.dims.operand_batch, i)) {
      c.require_equal(size, 1, "window size of collapsed axis " + std::to_string(i));
    }
    c.require_less_equal(0, size, "window size on axis " + std::to_string(i));
    if (!contains(a.dims.operand_batch, i)) {
      require_fit(c, size, x.dim(i), windows, i);
    }
  }
  const AxisList kept = window_operand_axes(a.dims, x.rank());
  std::vector<Dim> shape;
  std::size_t next_position = 0, next_window = 0;
  for (int i = 0; i < rank; ++i) {
    shape.push_back(contains(a.dims.window_axes, i)
                        ? a.sizes[usize(kept[next_window++])]
                        : indices.dim(static_cast<int>(positions[next_position++])));
  }
  c.out.push_back(x.with_shape(shape));
}
void Gather::eval(EvalContext& c) {
  const GatherAttrs& a = c.as<GatherAttrs>();
  HostArray y = c.make();
  Extents sizes;
  for (Dim d : a.sizes) sizes.push_back(c.size_of(d));
  const WindowWalk walk(a.dims, c.in[0].extents(), c.in[1], y.extents(), sizes, a.mode);
  const HostArray fill = fill_value(y.dtype(), a.fill);
  by_size(y.dtype(), [&]<class T>(TypeTag<T>) {
    const T* x = static_cast<const T*>(c.in[0].data());
    const T outside = *static_cast<const T*>(fill.data());
    T* out = static_cast<T*>(y.mutable_data());
    walk.each([&](std::int64_t from, std::int64_t to, bool fits) {
      walk.elements(from, to,
                    [&](std::int64_t i, std::int64_t k) { out[k] = fits ? x[i] : outside; });
    });
  });
  c.out.push_back(std::move(y));
}
void Gather::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  if (!dx[0]) return;
  // Outside, the value is a constant: its tangent is zero, whatever the constant is.
  GatherAttrs a = c.as<GatherAttrs>();
  if (a.mode == OutOfBounds::fill) a.fill = 0;
  dy[0] = gather(dx[0], c.in[1], std::move(a));
}
void Gather::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const GatherAttrs& a = c.as<GatherAttrs>();
  const ScatterAttrs add{.dims = a.dims, .update = Update::add, .mode = a.mode, .sorted = a.sorted};
  sink.absorb(0, [indices = c.in[1], v = ct[0], add](Val accumulator) {
    return scatter(accumulator, indices, v, add);
  });
}
void Gather::batch(const Call& c, BatchContext& ctx) {
  GatherAttrs a = c.as<GatherAttrs>();
  for (std::int64_t axis : a.dims.index_map) {
    require_same_in_lanes(ctx, c.in_types[0].dim(static_cast<int>(axis)), *c.op, "indexed size");
    require_same_in_lanes(ctx, a.sizes[usize(axis)], *c.op, "window size");
  }
  if (!ctx.batched(0)) {
    a.dims = with_index_lanes(a.dims);
    a.sorted = false;
    ctx.set(0, gather(c.in[0], ctx.lifted(1), std::move(a)));
  } else if (!ctx.batched(1)) {
    a.dims = with_operand_lanes(a.dims);
    a.sizes = prepended(ctx.lanes(), a.sizes);
    ctx.set(0, gather(ctx.lifted(0), c.in[1], std::move(a)));
  } else {
    a.dims = with_all_lanes(a.dims);
    a.sizes = prepended(1, a.sizes);
    a.sorted = false;
    ctx.set(0, gather(ctx.lifted(0), ctx.lifted(1), std::move(a)));
  }
}

// ---- scatter ----

namespace {

/// The gather that reads where `a` writes; outside reads 0.
GatherAttrs reading(const ScatterAttrs& a, Type operand, Type updates) {
  return {.dims = a.dims,
          .sizes = window_sizes(a.dims, operand, updates),
          .mode = a.mode,
          .fill = a.mode == OutOfBounds::fill ? std::optional<double>(0) : std::nullopt,
          .sorted = a.sorted};
}
ScatterAttrs with_update(ScatterAttrs a, Update update) {
  a.update = update;
  return a;
}
Val tangent_of(Val x, Val dx) { return dx ? dx : zeros_like(x); }

/// True where an update is the last one of its element: the only one that `set` keeps.
Val last_writers(const ScatterAttrs& a, Type operand, Val indices, Type updates) {
  const Dim count = updates.elements();
  const Val ids = reshape(iota(Type::get(DType::i64, {count}), 0), updates.shape()) + 1.0;
  const Type id_type = operand.with_dtype(DType::i64);
  const Val written = scatter(zeros(id_type), indices, ids, a);
  return compare(Comparison::eq, ids, gather(written, indices, reading(a, operand, updates)));
}

/// Of the operand and the updates of an element, those that are the result share its tangent.
Val extremal_jvp(const Call& c, const ScatterAttrs& a, Val dx, Val du) {
  const Val x = c.in[0], indices = c.in[1], u = c.in[2], y = c.out[0];
  const GatherAttrs read = reading(a, x.type(), u.type());
  const ScatterAttrs add = with_update(a, Update::add);
  const Val zero_x = zeros_like(x), one_u = ones(u.type()), zero_u = zeros_like(u);
  const Val touched = scatter(zero_x, indices, one_u, add) > zero_x;
  const Val kept = logical_or(compare(Comparison::eq, x, y), logical_not(touched));
  const Val wins = compare(Comparison::eq, u, gather(y, indices, read));
  Val ties =
      scatter(select(kept, ones(x.type()), zero_x), indices, select(wins, one_u, zero_u), add);
  // Nothing equals a NaN result: no share then, and no division by zero.
  const Val share = 1.0 / max(ties, ones(x.type()));
  const Val from_x = select(kept, tangent_of(x, dx) * share, zero_x);
  if (!du) return from_x;
  return scatter(from_x, indices, select(wins, du * gather(share, indices, read), zero_u), add);
}

template <class T>
T updated(Update kind, T old, T update) {
  using C = ComputeType<T>;
  const C a = static_cast<C>(old), b = static_cast<C>(update);
  if constexpr (std::is_same_v<T, bool>) {
    return kind == Update::min ? Min::eval(a, b) : Max::eval(a, b);
  } else {
    switch (kind) {
      case Update::add:
        return static_cast<T>(Add::eval(a, b));
      case Update::mul:
        return static_cast<T>(Mul::eval(a, b));
      case Update::min:
        return static_cast<T>(Min::eval(a, b));
      default:
        return static_cast<T>(Max::eval(a, b));
    }
  }
}

}  // namespace

void Scatter::infer(InferContext& c) {
  if (c.in.size() != 3) c.fail("TL-ARITY-001", "takes an operand, indices and updates");
  const ScatterAttrs& a = c.as<ScatterAttrs>();
  const Type x = c.in[0], indices = c.in[1], updates = c.in[2];
  const int rank = windowed_rank(a.dims, x, indices);
  check_index_dims(c, a.dims, x, indices, rank);
  if (x.dtype() != updates.dtype()) c.fail("TL-DTYPE-001", "dtypes differ", "convert the updates");
  if (is_complex(x.dtype()) || updates.encoding() ||
      (x.dtype() == DType::boolean && (a.update == Update::add || a.update == Update::mul))) {
    c.fail("TL-DTYPE-004", "does not accept this element type", "convert the operands first");
  }
  if (updates.rank() != rank) {
    c.fail("TL-RANK-001", "the updates need " + std::to_string(rank) + " axes");
  }
  const std::vector<Dim> sizes = window_sizes(a.dims, x, updates);
  const AxisList positions = index_axes(a.dims, indices.rank());
  const Dim windows = count_of(indices, positions);
  for (int i = 0; i < x.rank(); ++i) {
    if (contains(a.dims.operand_batch, i)) continue;
    require_fit(c, sizes[usize(i)], x.dim(i), windows, i);
  }
  std::size_t next = 0;
  for (int i = 0; i < rank; ++i) {
    if (contains(a.dims.window_axes, i)) continue;
    c.require_equal(updates.dim(i), indices.dim(static_cast<int>(positions[next++])),
                    "updates, axis " + std::to_string(i));
  }
  c.out.push_back(x);
}
void Scatter::eval(EvalContext& c) {
  const ScatterAttrs& a = c.as<ScatterAttrs>();
  HostArray y = c.take(0);
  const HostArray &indices = c.in[1], &updates = c.in[2];
  Extents sizes(y.extents().size(), 1);
  const AxisList kept = window_operand_axes(a.dims, y.rank());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    sizes[usize(kept[k])] = updates.extents()[usize(a.dims.window_axes[k])];
  }
  const WindowWalk walk(a.dims, y.extents(), indices, updates.extents(), sizes, a.mode);
  dispatch(y.dtype(), [&]<class T>(TypeTag<T>) {
    T* out = static_cast<T*>(y.mutable_data());
    const T* u = static_cast<const T*>(updates.data());
    walk.each([&](std::int64_t to, std::int64_t from, bool fits) {
      if (!fits) return;
      walk.elements(to, from, [&](std::int64_t i, std::int64_t k) {
        out[i] = a.update == Update::set ? u[k] : updated(a.update, out[i], u[k]);
      });
    });
  });
  c.out.push_back(std::move(y));
}
void Scatter::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const ScatterAttrs& a = c.as<ScatterAttrs>();
  const Val x = c.in[0], indices = c.in[1], u = c.in[2];
  switch (a.update) {
    case Update::set:  // the same writers win
    case Update::add:
      if (a.update == Update::add && !dx[2])
        dy[0] = dx[0];
      else
        dy[0] = scatter(tangent_of(x, dx[0]), indices, tangent_of(u, dx[2]), a);
      return;
    case Update::min:
    case Update::max:
      dy[0] = extremal_jvp(c, a, dx[0], dx[2]);
      return;
    case Update::mul:
      break;
  }
  if (dx[2] && !a.unique) {
    dy[0] = scatter_mul_jvp(x, indices, u, a, dx[0], dx[2]);
    return;
  }
  if (dx[0]) dy[0] = scatter(dx[0], indices, u, a);
  if (!dx[2]) return;
  const Val factor = gather(x, indices, reading(a, x.type(), u.type()));
  dy[0] =
      scatter(dy[0] ? dy[0] : zeros_like(x), indices, factor * dx[2], with_update(a, Update::add));
}
void Scatter::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const ScatterAttrs& a = c.as<ScatterAttrs>();
  const Type x = c.in_types[0], u = c.in_types[2];
  const Val indices = c.in[1];
  require_linear(c, a.update != Update::min && a.update != Update::max,
                 "scatter min and max are not linear");
  require_linear(c, a.update != Update::mul || c.in[2], "a product of two linear values");
  if (!c.in[2]) {
    // Emitted before the update of the cotangent, which can then be in place.
    Val v = gather(ct[0], indices, reading(a, x, u));
    if (a.update == Update::set && !a.unique) {
      v = select(last_writers(a, x, indices, u), v, zeros(u));
    }
    sink.add(2, v);
  }
  if (c.in[0]) return;
  if (a.update == Update::add)
    sink.add(0, ct[0]);
  else
    sink.add(0, scatter(ct[0], indices, a.update == Update::set ? zeros(u) : c.in[2], a));
}
void Scatter::batch(const Call& c, BatchContext& ctx) {
  ScatterAttrs a = c.as<ScatterAttrs>();
  for (std::int64_t axis : a.dims.index_map) {
    require_same_in_lanes(ctx, c.in_types[0].dim(static_cast<int>(axis)), *c.op, "indexed size");
  }
  Val updates = ctx.lifted(2);
  for (int axis = 0; axis < c.in_types[2].rank(); ++axis) {
    // What lies beyond a lane's own size adds zero; other updates have no such neutral value.
    if (a.update == Update::add) {
      updates = ctx.mask_ragged(updates, axis + 1, ir::Identity::zero);
    } else {
      require_same_in_lanes(ctx, c.in_types[2].dim(axis), *c.op, "sizes of updates");
    }
  }
  if (!ctx.batched(1)) {
    a.dims = with_operand_lanes(a.dims);
    ctx.set(0, scatter(ctx.lifted(0), c.in[1], updates, std::move(a)));
    return;
  }
  a.dims = with_all_lanes(a.dims);
  a.sorted = false;
  ctx.set(0, scatter(ctx.lifted(0), ctx.lifted(1), updates, std::move(a)));
}

TLALOC_ROW(Gather);
TLALOC_ROW(Scatter);

// ---- the vocabulary ----

Val gather(Val x, Val indices, GatherAttrs attrs) {
  return ir::Builder::current().emit(rows::Gather, ir::make_attr(std::move(attrs)), {x, indices});
}
Val scatter(Val x, Val indices, Val updates, ScatterAttrs attrs) {
  return ir::Builder::current().emit(rows::Scatter, ir::make_attr(std::move(attrs)),
                                     {x, indices, updates});
}

namespace {
/// Indices without a vector axis select along one axis.
IndexDims along_axis(Val x, Val indices, int axis) {
  IndexDims d{.collapsed_axes = {axis}, .index_map = {axis}, .vector_axis = indices.rank()};
  for (int i = 0; i < x.rank(); ++i) {
    if (i != axis) d.window_axes.push_back(i < axis ? i : i - 1 + indices.rank());
  }
  return d;
}
}  // namespace

Val take(Val x, Val indices, int axis, OutOfBounds mode) {
  std::vector<Dim> sizes(x.shape().begin(), x.shape().end());
  sizes[usize(axis)] = 1;
  return gather(x, indices,
                {.dims = along_axis(x, indices, axis), .sizes = std::move(sizes), .mode = mode});
}
Val scatter_at(Val x, Val indices, Val updates, int axis, Update update, OutOfBounds mode) {
  return scatter(x, indices, updates,
                 {.dims = along_axis(x, indices, axis), .update = update, .mode = mode});
}

}  // namespace tlaloc::ops
