#include "tlaloc/ops/merging.h"

#include "tlaloc/ops/dim_quotient.h"

namespace tlaloc::ops {
namespace {}  // namespace

Val merge_axis(Val x, std::int64_t from, std::int64_t to) {
  AxisList order = axis_range(0, x.rank());
  order.erase(order.begin() + from);
  const std::int64_t at = to - (from < to);
  order.insert(order.begin() + at, from);
  x = ops::transpose(x, order);
  std::vector<Dim> shape(x.shape().begin(), x.shape().end());
  shape[usize(at + 1)] *= shape[usize(at)];
  shape.erase(shape.begin() + at);
  return reshape(x, shape);
}
Val split_axis(Val x, std::int64_t axis, Dim major) {
  std::vector<Dim> shape(x.shape().begin(), x.shape().end());
  shape.insert(shape.begin() + axis, major);
  shape[usize(axis + 1)] = quotient(shape[usize(axis + 1)], major);
  return reshape(x, shape);
}
Val axis_to_front(Val x, std::int64_t axis) {
  AxisList order = axis_range(0, x.rank());
  order.erase(order.begin() + axis);
  order.insert(order.begin(), axis);
  return ops::transpose(x, order);
}
Val merge_lanes(Val x, std::int64_t axis, Dim groups) {
  if (groups == Dim(1)) return merge_axis(x, 0, axis + 1);
  x = split_axis(x, axis + 1, groups);
  return merge_axis(merge_axis(x, 0, axis + 2), axis, axis + 1);
}
Val split_lanes(Val x, std::int64_t axis, Dim lanes, Dim groups) {
  if (groups == Dim(1)) return axis_to_front(split_axis(x, axis, lanes), axis);
  x = split_axis(split_axis(x, axis, groups), axis + 1, lanes);  // […, groups, lanes, n, …]
  return merge_axis(axis_to_front(x, axis + 1), axis + 1, axis + 2);
}
Val swap_last_axes(Val x) {
  AxisList order = axis_range(0, x.rank());
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return ops::transpose(x, order);
}

}  // namespace tlaloc::ops
