// Small arithmetic on lists of axes and sizes, shared by the families.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "tlaloc/ir/dim.h"

namespace tlaloc::ops {

using AxisList = std::vector<std::int64_t>;

/// first, first + 1, …, first + count - 1.
inline AxisList axis_range(std::int64_t first, std::int64_t count) {
  AxisList r(static_cast<std::size_t>(count));
  std::iota(r.begin(), r.end(), first);
  return r;
}
/// Every axis moved up by one: what a new axis 0 does to a list of axes.
inline AxisList shifted_axes(const AxisList& axes) {
  AxisList r = axes;
  for (std::int64_t& a : r) ++a;
  return r;
}
/// The axes moved up by one, behind a new axis 0.
inline AxisList with_axis_zero(const AxisList& axes) {
  AxisList r = shifted_axes(axes);
  r.insert(r.begin(), 0);
  return r;
}
inline bool contains(const AxisList& axes, std::int64_t axis) {
  return std::ranges::find(axes, axis) != axes.end();
}
/// True if all lie in [0, rank) and none occurs twice.
inline bool are_axes(const AxisList& axes, std::int64_t rank) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= rank) return false;
    for (std::size_t k = 0; k < i; ++k) {
      if (axes[k] == axes[i]) return false;
    }
  }
  return true;
}
inline bool increasing(const AxisList& axes) {
  return std::ranges::adjacent_find(axes, std::greater_equal<>()) == axes.end();
}
inline std::vector<ir::Dim> prepended(ir::Dim first, std::span<const ir::Dim> rest) {
  std::vector<ir::Dim> r{first};
  r.insert(r.end(), rest.begin(), rest.end());
  return r;
}
/// The permutation q with q[p[i]] = i.
inline AxisList inverse_permutation(const AxisList& p) {
  AxisList q(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    q[static_cast<std::size_t>(p[i])] = static_cast<std::int64_t>(i);
  }
  return q;
}

}  // namespace tlaloc::ops
