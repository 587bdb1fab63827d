#include "tlaloc/ops/indexing.h"

#include "tlaloc/ops/strided.h"

namespace tlaloc::ops {
namespace {
const char* const kAxes = "TL-AXIS-001";
}  // namespace

AxisList index_axes(const IndexDims& dims, int indices_rank) {
  AxisList r;
  for (std::int64_t i = 0; i < indices_rank; ++i) {
    if (i != dims.vector_axis) r.push_back(i);
  }
  return r;
}
AxisList window_operand_axes(const IndexDims& dims, int operand_rank) {
  AxisList r;
  for (std::int64_t i = 0; i < operand_rank; ++i) {
    if (!contains(dims.collapsed_axes, i) && !contains(dims.operand_batch, i)) r.push_back(i);
  }
  return r;
}
int windowed_rank(const IndexDims& dims, Type operand, Type indices) {
  return static_cast<int>(window_operand_axes(dims, operand.rank()).size() +
                          index_axes(dims, indices.rank()).size());
}

std::vector<Dim> window_sizes(const IndexDims& dims, Type operand, Type updates) {
  std::vector<Dim> sizes(usize(operand.rank()), 1);
  const AxisList kept = window_operand_axes(dims, operand.rank());
  for (std::size_t k = 0; k < kept.size(); ++k) {
    sizes[usize(kept[k])] = updates.dim(static_cast<int>(dims.window_axes[k]));
  }
  return sizes;
}

void check_index_dims(InferContext& c, const IndexDims& d, Type operand, Type indices,
                      int windowed_rank) {
  if (operand.encoding()) c.fail("TL-DTYPE-004", "does not accept quantized values");
  if (!is_integer(indices.dtype())) c.fail("TL-DTYPE-004", "indices must be integers");
  if (d.vector_axis < 0 || d.vector_axis > indices.rank()) {
    c.fail(kAxes, "vector_axis must be an axis of the indices, or their rank");
  }
  if (!are_axes(d.collapsed_axes, operand.rank()) || !increasing(d.collapsed_axes)) {
    c.fail(kAxes, "collapsed_axes must be distinct, increasing axes of the operand");
  }
  if (!are_axes(d.operand_batch, operand.rank()) || !increasing(d.operand_batch)) {
    c.fail(kAxes, "operand_batch must be distinct, increasing axes of the operand");
  }
  if (!are_axes(d.indices_batch, indices.rank()) || contains(d.indices_batch, d.vector_axis) ||
      d.indices_batch.size() != d.operand_batch.size()) {
    c.fail(kAxes, "indices_batch must name one axis of the indices for each of operand_batch");
  }
  if (!are_axes(d.index_map, operand.rank())) {
    c.fail(kAxes, "index_map must be distinct axes of the operand");
  }
  for (std::int64_t axis : d.operand_batch) {
    if (contains(d.collapsed_axes, axis) || contains(d.index_map, axis)) {
      c.fail(kAxes, "a batch axis can be neither collapsed nor indexed");
    }
  }
  if (!are_axes(d.window_axes, windowed_rank) || !increasing(d.window_axes) ||
      d.window_axes.size() != window_operand_axes(d, operand.rank()).size()) {
    c.fail(kAxes, "window_axes must name one increasing axis per operand axis that is kept");
  }
  const Dim components =
      d.vector_axis < indices.rank() ? indices.dim(static_cast<int>(d.vector_axis)) : Dim(1);
  c.require_equal(components, static_cast<std::int64_t>(d.index_map.size()),
                  "length of the index vectors");
  for (std::size_t k = 0; k < d.operand_batch.size(); ++k) {
    c.require_equal(operand.dim(static_cast<int>(d.operand_batch[k])),
                    indices.dim(static_cast<int>(d.indices_batch[k])),
                    "batch axis " + std::to_string(d.operand_batch[k]));
  }
}

IndexDims with_operand_lanes(IndexDims d) {
  d.window_axes = with_axis_zero(d.window_axes);
  d.collapsed_axes = shifted_axes(d.collapsed_axes);
  d.operand_batch = shifted_axes(d.operand_batch);
  d.index_map = shifted_axes(d.index_map);
  return d;
}
IndexDims with_index_lanes(IndexDims d) {
  d.window_axes = shifted_axes(d.window_axes);
  d.indices_batch = shifted_axes(d.indices_batch);
  ++d.vector_axis;
  return d;
}
IndexDims with_all_lanes(IndexDims d) {
  d.window_axes = shifted_axes(d.window_axes);
  d.collapsed_axes = shifted_axes(d.collapsed_axes);
  d.operand_batch = with_axis_zero(d.operand_batch);
  d.indices_batch = with_axis_zero(d.indices_batch);
  d.index_map = shifted_axes(d.index_map);
  ++d.vector_axis;
  return d;
}

WindowWalk::WindowWalk(const IndexDims& dims, const Extents& operand, const HostArray& indices,
                       const Extents& windowed, const Extents& sizes, OutOfBounds mode)
    : dims_(dims),
      indices_(indices),
      operand_(operand),
      operand_step_(row_major_strides(operand)),
      sizes_(sizes),
      mode_(mode) {
  const Extents index_step = row_major_strides(indices.extents());
  const Extents windowed_step = row_major_strides(windowed);
  const AxisList positions = index_axes(dims, indices.rank());
  std::size_t next = 0;
  for (std::size_t axis = 0; axis < windowed.size(); ++axis) {
    if (contains(dims.window_axes, static_cast<std::int64_t>(axis))) continue;
    const std::size_t from = usize(positions[next++]);
    position_extents_.push_back(indices.extents()[from]);
    position_step_.push_back(index_step[from]);
    position_windowed_step_.push_back(windowed_step[axis]);
  }
  for (std::int64_t axis : dims.indices_batch) {
    batch_position_.push_back(
        static_cast<std::size_t>(std::ranges::find(positions, axis) - positions.begin()));
  }
  if (dims.vector_axis < indices.rank()) vector_step_ = index_step[usize(dims.vector_axis)];
  const AxisList kept = window_operand_axes(dims, static_cast<int>(operand.size()));
  for (std::size_t k = 0; k < kept.size(); ++k) {
    window_.push_back(sizes[usize(kept[k])]);
    window_operand_step_.push_back(operand_step_[usize(kept[k])]);
    window_step_.push_back(windowed_step[usize(dims.window_axes[k])]);
  }
}

void WindowWalk::for_each_position(
    const std::function<void(std::int64_t, std::int64_t, const Extents&)>& visit) const {
  const std::int64_t count = element_count(position_extents_);
  Extents index(position_extents_.size(), 0);
  std::int64_t at = 0, windowed = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    visit(at, windowed, index);
    for (std::size_t axis = index.size(); axis-- > 0;) {
      at += position_step_[axis];
      windowed += position_windowed_step_[axis];
      if (++index[axis] < position_extents_[axis]) break;
      at -= position_step_[axis] * position_extents_[axis];
      windowed -= position_windowed_step_[axis] * position_extents_[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace tlaloc::ops
