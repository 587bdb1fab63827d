// An array as lines along one axis, for reference evaluation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "tlaloc/base/host_array.h"

namespace tlaloc::ops {

struct Lines {
  std::int64_t length;  ///< elements of a line
  std::int64_t step;    ///< between neighbours of a line
  std::int64_t count;   ///< lines

  Lines(std::span<const std::int64_t> extents, std::int64_t axis)
      : length(extents[usize(axis)]), step(1), count(1) {
    Extents others(extents.begin(), extents.end());
    others.erase(others.begin() + axis);
    bool none = std::ranges::find(others, 0) != others.end();
    // An overflow means lines without elements, of which no array could hold a result each.
    for (std::int64_t e : others) none = none || __builtin_mul_overflow(count, e, &count);
    if (none) {
      length = count = 0;
      return;
    }
    for (std::size_t i = usize(axis) + 1; i < extents.size(); ++i) step *= extents[i];
  }
  /// visit(line, offset of its first element), lines in row-major order of the other axes.
  template <class F>
  void each(const F& visit) const {
    for (std::int64_t line = 0; line < count; ++line) {
      visit(line, line / step * step * length + line % step);
    }
  }
};

}  // namespace tlaloc::ops
