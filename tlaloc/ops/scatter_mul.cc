// The derivative of a scatter-mul with respect to its factors. Where an element has several, the
// derivative of their product is a sum of products of all but one: exact at zeros too, and again
// differentiable, if it is computed factor by factor. Divisions of the whole product are not.
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/indexing.h"

namespace tlaloc::ops {
namespace {

/// The index vectors as i64[n, components]; batch axes become components.
Val flat_indices(const IndexDims& d, Val indices) {
  indices = convert(indices, DType::i64);
  const AxisList positions = index_axes(d, indices.rank());
  std::vector<Dim> shape;
  Dim count = 1;
  for (std::int64_t axis : positions) {
    shape.push_back(indices.dim(static_cast<int>(axis)));
    count *= shape.back();
  }
  AxisList order = positions;
  if (d.vector_axis < indices.rank()) order.push_back(d.vector_axis);
  const auto components = static_cast<std::int64_t>(d.index_map.size());
  Vals parts{reshape(ops::transpose(indices, order), std::vector<Dim>{count, components})};
  for (std::int64_t axis : d.indices_batch) {
    const auto at = static_cast<int>(std::ranges::find(positions, axis) - positions.begin());
    parts.push_back(
        reshape(iota(Type::get(DType::i64, shape), at), std::vector<Dim>{count, Dim(1)}));
  }
  return concatenate(parts, 1);
}
/// The updates as [n, window…].
Val flat_updates(const IndexDims& d, Val updates) {
  AxisList order;
  Dim count = 1;
  for (int i = 0; i < updates.rank(); ++i) {
    if (contains(d.window_axes, i)) continue;
    order.push_back(i);
    count *= updates.dim(i);
  }
  std::vector<Dim> shape{count};
  for (std::int64_t axis : d.window_axes) {
    order.push_back(axis);
    shape.push_back(updates.dim(static_cast<int>(axis)));
  }
  return reshape(ops::transpose(updates, order), shape);
}

}  // namespace

Val scatter_mul_jvp(Val x, Val indices, Val updates, const ScatterAttrs& a, Val dx, Val du) {
  // One window, at one index vector.
  ScatterAttrs one{.update = Update::mul, .mode = a.mode, .unique = true};
  one.dims.window_axes = axis_range(0, static_cast<std::int64_t>(a.dims.window_axes.size()));
  one.dims.collapsed_axes = a.dims.collapsed_axes;
  one.dims.collapsed_axes.insert(one.dims.collapsed_axes.end(), a.dims.operand_batch.begin(),
                                 a.dims.operand_batch.end());
  std::ranges::sort(one.dims.collapsed_axes);
  one.dims.index_map = a.dims.index_map;
  one.dims.index_map.insert(one.dims.index_map.end(), a.dims.operand_batch.begin(),
                            a.dims.operand_batch.end());
  ScatterAttrs plus = one;
  plus.update = Update::add;
  const GatherAttrs read{.dims = one.dims,
                         .sizes = window_sizes(a.dims, x.type(), updates.type()),
                         .mode = a.mode,
                         .fill = 0.0};
  const Val at = flat_indices(a.dims, indices), u = flat_updates(a.dims, updates);
  // The product so far, at each factor.
  const LoopResult so_far = scan({x}, {at, u}, [&](const Vals& v) {
    return Vals{scatter(v[0], v[1], v[2], one), gather(v[0], v[1], read)};
  });
  const Val start = dx ? dx : zeros_like(x);
  return scan({start}, {at, u, so_far.ys[0], flat_updates(a.dims, du)},
              [&](const Vals& v) {
                return Vals{scatter(scatter(v[0], v[1], v[2], one), v[1], v[3] * v[4], plus)};
              })
      .carries[0];
}

}  // namespace tlaloc::ops
