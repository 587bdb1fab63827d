// An array as lines along one axis, for reference evaluation.
#pragma once

#include <cstdint>
#include <span>

#include "tlaloc/base/host_array.h"

namespace tlaloc::ops {

struct Lines {
  std::int64_t length;  ///< elements of a line
  std::int64_t step;    ///< between neighbours of a line
  std::int64_t count;   ///< lines

  Lines(std::span<const std::int64_t> extents, std::int64_t axis) : length(0), step(1), count(1) {
    for (std::size_t i = 0; i < extents.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      if (at == axis)
        length = extents[i];
      else
        count *= extents[i];
      if (at > axis) step *= extents[i];
    }
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
