#include "tlaloc/transform/device_lanes.h"

#include <algorithm>
#include <numeric>

#include "tlaloc/ops/collectives.h"
#include "tlaloc/ops/dim_quotient.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::transform {

using ir::Dim;
using ir::Val;

namespace {

using Axes = std::vector<std::int64_t>;
using Shape = std::vector<Dim>;

Shape shape_of(Val x) { return {x.type().shape().begin(), x.type().shape().end()}; }

/// Moves one axis to another place.
Val moved(Val x, std::size_t from, std::size_t to) {
  if (from == to) return x;
  Axes order(usize(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  const std::int64_t axis = order[from];
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), axis);
  return ops::transpose(x, order);
}
/// x `count` times along a new axis.
Val repeated(Val x, std::size_t at, std::int64_t count) {
  Shape shape = shape_of(x);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), count);
  Axes axes;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != at) axes.push_back(static_cast<std::int64_t>(i));
  }
  return ops::broadcast_in_dim(x, shape, axes);
}
/// Axes `at` and `at + 1` as one.
Val merged(Val x, std::size_t at) {
  Shape shape = shape_of(x);
  shape[at] = shape[at] * shape[at + 1];
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  return ops::reshape(x, shape);
}
/// Axis `at` as `count` times what is left of it.
Val parted(Val x, std::size_t at, std::int64_t count) {
  Shape shape = shape_of(x);
  shape[at] = ops::quotient(shape[at], count);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), count);
  return ops::reshape(x, shape);
}
/// The first element of an axis, which vanishes.
Val first_of(Val x, std::size_t axis) {
  const Val one = ops::slice_axis(x, static_cast<int>(axis), 0, 1);
  Shape shape = shape_of(one);
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return ops::reshape(one, shape);
}

}  // namespace

DeviceLanes::DeviceLanes(const ir::ManualAttrs& attrs) : count_(attrs.devices()) {
  for (const ir::NamedAxis& a : attrs.mesh.axes) {
    const bool manual = std::ranges::find(attrs.axes, a.name) != attrs.axes.end();
    if (manual && a.size > 1) axes_.push_back(a);
  }
}

std::optional<std::size_t> DeviceLanes::find(const std::string& axis) const {
  const auto at = std::ranges::find(axes_, axis, &ir::NamedAxis::name);
  if (at == axes_.end()) return {};
  return static_cast<std::size_t>(at - axes_.begin());
}

Val DeviceLanes::spread(Val lanes) const {
  Shape shape = shape_of(lanes);
  shape.erase(shape.begin());
  for (std::size_t k = rank(); k-- > 0;) shape.insert(shape.begin(), axes_[k].size);
  return ops::reshape(lanes, shape);
}
Val DeviceLanes::packed(Val spread) const {
  Shape shape = shape_of(spread);
  shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(rank()));
  shape.insert(shape.begin(), count_);
  return ops::reshape(spread, shape);
}

Val DeviceLanes::cut(Val whole, const ir::ShardSpec& spec) const {
  // Each cut dimension falls apart into one axis per mesh axis and what a device has; those of the
  // mesh go to the front, in its order, which puts the ones that are there at their places.
  Val x = whole;
  std::vector<std::size_t> front;  // mesh axes that are in front, in this order
  for (std::size_t k = 0; k < spec.dims.size(); ++k) {
    for (const std::string& name : spec.dims[k]) {
      const auto axis = find(name);
      if (!axis) continue;
      const std::size_t at = front.size() + k;
      x = moved(parted(x, at, axes_[*axis].size), at, front.size());
      front.push_back(*axis);
    }
  }
  for (std::size_t axis = 0; axis < rank(); ++axis) {
    const auto known =
        std::find(front.begin() + static_cast<std::ptrdiff_t>(axis), front.end(), axis);
    const auto from = static_cast<std::size_t>(known - front.begin());
    if (known == front.end()) {
      x = repeated(x, axis, axes_[axis].size);
    } else {
      x = moved(x, from, axis);
      front.erase(known);
    }
    front.insert(front.begin() + static_cast<std::ptrdiff_t>(axis), axis);
  }
  return packed(x);
}

Val DeviceLanes::join(Val lanes, const ir::ShardSpec& spec) const {
  Val x = spread(lanes);
  std::vector<std::size_t> front(rank());
  std::iota(front.begin(), front.end(), std::size_t{0});
  for (std::size_t axis = rank(); axis-- > 0;) {
    if (spec.mentions(axes_[axis].name)) continue;
    x = first_of(x, axis);
    front.erase(front.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  for (std::size_t k = spec.dims.size(); k-- > 0;) {
    for (std::size_t i = spec.dims[k].size(); i-- > 0;) {
      const auto axis = find(spec.dims[k][i]);
      if (!axis) continue;
      const auto known = std::ranges::find(front, *axis);
      const auto from = static_cast<std::size_t>(known - front.begin());
      // Behind the other axes of the mesh and the dimensions before this one.
      const std::size_t at = front.size() - 1 + k;
      x = merged(moved(x, from, at), at);
      front.erase(known);
    }
  }
  return x;
}

bool DeviceLanes::meet(const ir::Node& n) const {
  const ops::MeshAxis* over = ops::collective_axis(n.attr().get());
  return over && find(over->name);
}

Val DeviceLanes::collective(const ir::Node& n, Val lanes) const {
  const auto* reduce = ir::attr_if<ops::AllReduceAttrs>(n.attr().get());
  const auto* exchange = ir::attr_if<ops::ExchangeAttrs>(n.attr().get());
  const ops::MeshAxis& over = *ops::collective_axis(n.attr().get());
  const std::size_t p = *find(over.name);
  const std::int64_t devices = axes_[p].size;
  if (over.devices != Dim(devices)) {
    throw UserError({"TL-MESH-001", n.op().name,
                     "axis '" + over.name + "' has " + std::to_string(devices) +
                         " devices here, and it is over " + over.devices.to_string(),
                     "use the axis of the mesh", n.origin().place});
  }
  const Val x = spread(lanes);
  const std::int64_t axis = static_cast<std::int64_t>(p);
  if (reduce) {
    const auto fold = reduce->reduction == ops::Collective::sum   ? ops::reduce_sum
                      : reduce->reduction == ops::Collective::max ? ops::reduce_max
                                                                  : ops::reduce_min;
    return packed(repeated(fold(x, std::span(&axis, 1)), p, devices));
  }
  const std::size_t at = rank() + usize(exchange->axis);
  if (&n.op() == &ops::rows::AllGather) {
    return packed(repeated(merged(moved(x, p, at - 1), at - 1), p, devices));
  }
  const Val sum = ops::reduce_sum(x, std::span(&axis, 1));
  return packed(moved(parted(sum, at - 1, devices), at - 1, p));
}

}  // namespace tlaloc::transform
