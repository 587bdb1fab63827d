// What is known about the value of an integer while code is printed: it shows that an index needs
// no clamp and that a sum can't overflow.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "tlaloc/base/dtype.h"
#include "tlaloc/ir/dim.h"

namespace tlaloc::cxx {

/// Bounds as numbers, and as sizes where that says more. Sizes are those of arrays in memory, so
/// that adding two of them can't overflow 64 bits.
struct Range {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();
  std::optional<ir::Dim> low_dim, high_dim;

  static Range of(DType dtype);
  static Range exactly(std::int64_t value);
  static Range exactly(ir::Dim size);
  /// [0, size - 1].
  static Range below(ir::Dim size);

  std::optional<std::int64_t> constant() const;
  /// The size that the value is known to equal.
  std::optional<ir::Dim> size() const;
  bool at_least(std::int64_t bound) const;
  bool at_most(ir::Dim bound) const;
};

/// What values of both ranges have in common.
Range united(const Range& a, const Range& b);
/// nullopt where the result may not fit into `dtype`.
std::optional<Range> sum(const Range& a, const Range& b, DType dtype);
std::optional<Range> difference(const Range& a, const Range& b, DType dtype);
std::optional<Range> product(const Range& a, const Range& b, DType dtype);

}  // namespace tlaloc::cxx
