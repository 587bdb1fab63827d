// Windows at positions that are values: dynamic slices, gather, scatter. Positions are i64 here,
// and those that must be clamped are, so that nothing depends on how a compiler treats them.
#include <algorithm>
#include <limits>

#include "tlaloc/ops/gather_scatter.h"
#include "tlaloc/ops/indexing.h"
#include "tlaloc/ops/slice.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo::lowering {
namespace {

using ops::AxisList;

/// As i64; a u64 beyond its range stays too large.
Value as_position(Emitter& e, const Value& x) {
  if (x.type.dtype != DType::u64) return e.convert(x, DType::i64);
  constexpr double kBeyond = 4e18;  // more than any size
  return e.convert(e.binary("minimum", x, e.splat(kBeyond, x.type)), DType::i64);
}
Values as_positions(Emitter& e, std::span<const Value> starts) {
  Values r;
  for (const Value& s : starts) r.push_back(as_position(e, s));
  return r;
}
/// Moved so that windows fit.
Value within(Emitter& e, const Value& start, std::int64_t last) {
  return e.binary("minimum", e.binary("maximum", start, e.splat(0, start.type)),
                  e.splat(static_cast<double>(last), start.type));
}
/// Scalars: where windows of that size begin.
Values window_starts(Emitter& e, std::span<const Value> starts, const Extents& operand,
                     const Extents& window) {
  Values r = as_positions(e, starts);
  if (!e.options().in_bounds) return r;
  for (std::size_t k = 0; k < r.size(); ++k) r[k] = within(e, r[k], operand[k] - window[k]);
  return r;
}
/// Starts of shape `batch`, side by side along a new last axis; clamped so that windows fit.
Value start_vectors(Emitter& e, std::span<const Value> starts, const Extents& last) {
  Values parts;
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const Value s = as_position(e, starts[k]);
    const Value inside = within(e, s, last[k]);
    Extents column = s.type.extents;
    column.push_back(1);
    parts.push_back(e.reshape(inside, std::move(column)));
  }
  const auto axis = static_cast<std::int64_t>(parts[0].type.rank()) - 1;
  return parts.size() == 1 ? parts[0] : e.concatenate(parts, axis);
}
/// The dimension numbers of a window per batch index.
ops::IndexDims batched_dims(std::int64_t batch, std::int64_t rank) {
  const AxisList shared = ops::axis_range(0, batch), rest = ops::axis_range(batch, rank - batch);
  return {.window_axes = rest,
          .operand_batch = shared,
          .indices_batch = shared,
          .index_map = rest,
          .vector_axis = batch};
}

std::string flag(bool b) { return b ? "true" : "false"; }

Value gather(Emitter& e, const Value& x, const Value& indices, const ops::IndexDims& d,
             const Extents& sizes, bool sorted, TensorType out) {
  return e.op("stablehlo.gather", {x, indices}, std::move(out),
              "dimension_numbers = #stablehlo.gather<offset_dims = " + list_text(d.window_axes) +
                  ", collapsed_slice_dims = " + list_text(d.collapsed_axes) +
                  ", operand_batching_dims = " + list_text(d.operand_batch) +
                  ", start_indices_batching_dims = " + list_text(d.indices_batch) +
                  ", start_index_map = " + list_text(d.index_map) + ", index_vector_dim = " +
                  std::to_string(d.vector_axis) + ">, slice_sizes = " + array_attr(sizes) +
                  ", indices_are_sorted = " + flag(sorted));
}
Value scatter(Emitter& e, const Value& x, const Value& indices, const Value& updates,
              const ops::IndexDims& d, ops::Update update, bool sorted, bool unique) {
  const bool boolean = x.type.dtype == DType::boolean;
  auto combine = [&e, update, boolean](const Values& v) -> Values {
    switch (update) {
      case ops::Update::set:
        return {v[1]};
      case ops::Update::add:
        return {e.binary("add", v[0], v[1])};
      case ops::Update::mul:
        return {e.binary("multiply", v[0], v[1])};
      case ops::Update::min:
        return {e.binary(boolean ? "and" : "minimum", v[0], v[1])};
      default:
        return {e.binary(boolean ? "or" : "maximum", v[0], v[1])};
    }
  };
  const TensorType scalar{x.type.dtype, {}};
  const Region region[] = {{{scalar, scalar}, combine}};
  const Value in[] = {x, indices, updates};
  return e.op("stablehlo.scatter", in, std::span(&x.type, 1),
              "scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = " +
                  list_text(d.window_axes) +
                  ", inserted_window_dims = " + list_text(d.collapsed_axes) +
                  ", input_batching_dims = " + list_text(d.operand_batch) +
                  ", scatter_indices_batching_dims = " + list_text(d.indices_batch) +
                  ", scatter_dims_to_operand_dims = " + list_text(d.index_map) +
                  ", index_vector_dim = " + std::to_string(d.vector_axis) +
                  ">, indices_are_sorted = " + flag(sorted) + ", unique_indices = " + flag(unique),
              region)[0];
}

/// `set` where elements may be written twice. StableHLO leaves open which update stays; here the
/// last one does: each element learns its last writer, and takes the bits of that one alone.
Value scatter_last(Emitter& e, std::span<const Value> in, const ops::ScatterAttrs& a,
                   const Extents& sizes) {
  return e.decompose(in, [&](const ir::Vals& v) -> ir::Vals {
    using namespace ops;  // NOLINT: the vocabulary of rules
    const Val x = v[0], indices = v[1];
    const bool boolean = x.dtype() == DType::boolean;
    const Val updates = boolean ? convert(v[2], DType::u8) : v[2];
    constexpr DType kWords[] = {DType::u8, DType::u16, DType::u32, DType::u64};
    DType word = DType::u8;
    for (DType t : kWords) {
      if (byte_size(t) == byte_size(x.dtype())) word = t;
    }
    ScatterAttrs attrs = a;
    attrs.update = Update::max;
    // Windows come in the order of their indices, and a window writes an element once.
    std::vector<Dim> positions;
    AxisList axes;
    Dim count = 1;
    for (int i = 0; i < updates.rank(); ++i) {
      if (contains(a.dims.window_axes, i)) continue;
      axes.push_back(i);
      positions.push_back(updates.dim(i));
      count *= updates.dim(i);
    }
    const Val order = reshape(iota(Type::get(DType::i64, {count}), 0), positions) + 1.0;
    const Val ids = broadcast_in_dim(order, updates.shape(), axes);
    const Val last = scatter(zeros(x.type().with_dtype(DType::i64)), indices, ids, attrs);
    const GatherAttrs read{.dims = a.dims,
                           .sizes = {sizes.begin(), sizes.end()},
                           .mode = a.mode,
                           .fill = 0.0,
                           .sorted = a.sorted};
    const Val stays = compare(Comparison::eq, gather(last, indices, read), ids);
    const Val bits = bitcast_convert(updates, word);
    attrs.update = Update::add;
    const Val written = scatter(zeros(x.type().with_dtype(word)), indices,
                                select(stays, bits, zeros_like(bits)), attrs);
    const Val y = boolean ? convert(written, DType::boolean) : bitcast_convert(written, x.dtype());
    // Not compared with the zeros that the scatter starts from, which StableHLO's reference
    // interpreter updates in place.
    return {select(last >= ones(last.type()), y, x)};
  })[0];
}

/// One number per component of an index vector, of the indices' shape.
Value per_component(Emitter& e, const Value& indices, const ops::IndexDims& d,
                    const Extents& numbers) {
  if (d.vector_axis == static_cast<std::int64_t>(indices.type.rank())) {
    return e.splat(static_cast<double>(numbers.at(0)), indices.type);
  }
  const Value row = e.constant(HostArray::from(std::span<const std::int64_t>(numbers),
                                               {static_cast<std::int64_t>(numbers.size())}));
  const std::int64_t axes[] = {d.vector_axis};
  return e.broadcast(row, indices.type, axes);
}
/// Which windows of those sizes fit.
Value fits(Emitter& e, const Value& indices, const Value& last, const ops::IndexDims& d) {
  const Value inside = e.binary("and", e.compare("GE", indices, e.splat(0, indices.type)),
                                e.compare("LE", indices, last));
  if (d.vector_axis == static_cast<std::int64_t>(indices.type.rank())) return inside;
  const TensorType scalar{DType::boolean, {}};
  Extents positions = indices.type.extents;
  positions.erase(positions.begin() + d.vector_axis);
  const Value in[] = {inside, e.splat(1, scalar)};
  const TensorType out{DType::boolean, positions};
  const Region region[] = {{{scalar, scalar}, [&e](const Values& v) -> Values {
                              return {e.binary("and", v[0], v[1])};
                            }}};
  const std::int64_t axes[] = {d.vector_axis};
  return e.op("stablehlo.reduce", in, std::span(&out, 1), "dimensions = " + array_attr(axes),
              region)[0];
}
/// Starts of windows that fit: those that do not are moved.
Value clamped(Emitter& e, const Value& indices, const Value& limits) {
  return e.binary("minimum", e.binary("maximum", indices, e.splat(0, indices.type)), limits);
}
/// `last` start, by component.
Extents last_starts(const ops::IndexDims& d, const Extents& operand, const Extents& sizes) {
  Extents r;
  for (std::int64_t axis : d.index_map) r.push_back(operand[usize(axis)] - sizes[usize(axis)]);
  return r;
}

}  // namespace

Values DynamicSlice(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::DynamicSliceAttrs>();
  const Value& x = op.in[0];
  const Extents window = e.extents(op, a.sizes);
  const auto starts = op.in.subspan(1);
  if (starts.empty()) return {x};
  if (a.batch_axes == 0) {
    Values in{x};
    for (Value& s : window_starts(e, starts, x.type.extents, window)) in.push_back(std::move(s));
    return {e.op("stablehlo.dynamic_slice", in, op.out[0], "slice_sizes = " + array_attr(window))};
  }
  Extents sizes(usize(a.batch_axes), 1), last;
  sizes.insert(sizes.end(), window.begin(), window.end());
  for (std::size_t k = 0; k < window.size(); ++k) {
    last.push_back(x.type.extents[usize(a.batch_axes) + k] - window[k]);
  }
  const auto rank = static_cast<std::int64_t>(x.type.rank());
  return {gather(e, x, start_vectors(e, starts, last), batched_dims(a.batch_axes, rank), sizes,
                 false, op.out[0])};
}

Values DynamicUpdateSlice(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::DynamicUpdateSliceAttrs>();
  const Value &x = op.in[0], &update = op.in[1];
  const auto starts = op.in.subspan(2);
  if (starts.empty()) return {update};
  if (update.type.empty()) return {x};
  if (a.batch_axes == 0) {
    Values in{x, update};
    for (Value& s : window_starts(e, starts, x.type.extents, update.type.extents)) {
      in.push_back(std::move(s));
    }
    return {e.op("stablehlo.dynamic_update_slice", in, op.out[0])};
  }
  Extents last;
  for (std::size_t i = usize(a.batch_axes); i < x.type.rank(); ++i) {
    last.push_back(x.type.extents[i] - update.type.extents[i]);
  }
  const auto rank = static_cast<std::int64_t>(x.type.rank());
  return {scatter(e, x, start_vectors(e, starts, last), update, batched_dims(a.batch_axes, rank),
                  ops::Update::set, false, true)};
}

Values Gather(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::GatherAttrs>();
  const Value& x = op.in[0];
  const Value indices = as_position(e, op.in[1]);
  const Extents sizes = e.extents(op, a.sizes);
  const Extents last = last_starts(a.dims, x.type.extents, sizes);
  const bool clamps = e.options().in_bounds && a.mode != ops::OutOfBounds::promise;
  if (last.empty() || a.mode != ops::OutOfBounds::fill) {
    // StableHLO clamps too.
    const Value starts = clamps && !last.empty()
                             ? clamped(e, indices, per_component(e, indices, a.dims, last))
                             : indices;
    return {gather(e, x, starts, a.dims, sizes, a.sorted && !clamps, op.out[0])};
  }
  const Value fill = e.leading(e.constant(ops::fill_value(x.type.dtype, a.fill)), op.out[0]);
  if (std::ranges::any_of(last, [](std::int64_t n) { return n < 0; })) return {fill};
  const Value limits = per_component(e, indices, a.dims, last);
  const Value starts = clamps ? clamped(e, indices, limits) : indices;
  const Value taken = gather(e, x, starts, a.dims, sizes, a.sorted && !clamps, op.out[0]);
  AxisList positions;
  for (std::size_t i = 0; i < op.out[0].rank(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    if (!ops::contains(a.dims.window_axes, axis)) positions.push_back(axis);
  }
  const Value inside = e.broadcast(fits(e, indices, limits, a.dims), op.out[0], positions);
  return {e.select(inside, taken, fill)};
}

Values Scatter(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::ScatterAttrs>();
  const Value &x = op.in[0], &updates = op.in[2];
  if (updates.type.empty()) return {x};
  Extents sizes(x.type.rank(), 1);
  const AxisList kept = ops::window_operand_axes(a.dims, static_cast<int>(x.type.rank()));
  for (std::size_t k = 0; k < kept.size(); ++k) {
    sizes[usize(kept[k])] = updates.type.extents[usize(a.dims.window_axes[k])];
  }
  if (a.update == ops::Update::set && !a.unique) return {scatter_last(e, op.in, a, sizes)};
  Value indices = as_position(e, op.in[1]);
  Value into = x;
  const Extents last = last_starts(a.dims, x.type.extents, sizes);
  if (!last.empty()) {
    const Value limits = per_component(e, indices, a.dims, last);
    if (a.mode == ops::OutOfBounds::fill) {
      if (std::ranges::any_of(last, [](std::int64_t n) { return n < 0; })) return {x};
      // A window that does not fit goes where none of its elements does.
      Extents outside;
      for (std::int64_t axis : a.dims.index_map) outside.push_back(x.type.extents[usize(axis)]);
      Value inside = fits(e, indices, limits, a.dims);
      AxisList axes = ops::index_axes(a.dims, static_cast<int>(indices.type.rank()));
      inside = e.broadcast(inside, indices.type, axes);
      indices = e.select(inside, indices, per_component(e, indices, a.dims, outside));
      if (e.options().in_bounds) {
        // There is room behind the array, which is cut off again.
        Extents room(x.type.rank());
        for (std::int64_t axis : a.dims.index_map) room[usize(axis)] = sizes[usize(axis)];
        const Extents none(x.type.rank());
        into = e.pad(x, e.splat(0, TensorType{x.type.dtype, {}}), none, room, none);
      }
    } else {
      indices = clamped(e, indices, limits);
    }
  }
  // Moved positions are no longer those that the promise spoke of.
  const bool sorted = a.sorted && a.mode == ops::OutOfBounds::promise;
  const Value y =
      scatter(e, into, indices, updates, a.dims, a.update, sorted, a.unique && into.type == x.type);
  if (y.type == x.type) return {y};
  const Extents none(x.type.rank()), one(x.type.rank(), 1);
  return {e.slice(y, none, x.type.extents, one)};
}

}  // namespace tlaloc::stablehlo::lowering
