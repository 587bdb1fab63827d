// Sorting along one axis.
#pragma once

#include <tuple>

#include "tlaloc/ops/kinds.h"

namespace tlaloc::ops {

struct SortAttrs {
  std::int64_t axis = 0;
  bool descending = false;
  static constexpr auto fields() {
    return std::tuple(ir::field("axis", &SortAttrs::axis),
                      ir::field("descending", &SortAttrs::descending));
  }
};
/// Stable. -0 and +0 are equal; NaN counts as the largest: last ascending, first descending.
struct Sort {
  using Kind = Custom;
  using Attrs = SortAttrs;
  static constexpr OpInfo kInfo{"sort", "The sorted elements, and the i32 positions they had."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static constexpr Refusal kNoTranspose = kNotLinear;
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
