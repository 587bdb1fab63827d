// Sorting along one axis, and the k largest.
#pragma once

#include <optional>
#include <tuple>

#include "tlaloc/ops/kinds.h"

namespace tlaloc::ops {

struct SortAttrs {
  std::int64_t axis = 0;
  /// The first so many operands decide, lexicographically; without effect on a comparator.
  std::int64_t num_keys = 1;
  bool descending = false;
  /// (a0, b0, a1, b1, …) -> true if a comes before b, on scalars.
  std::optional<ir::GraphAttr> comparator;
  static constexpr auto fields() {
    return std::tuple(ir::field("axis", &SortAttrs::axis),
                      ir::field("num_keys", &SortAttrs::num_keys),
                      ir::field("descending", &SortAttrs::descending),
                      ir::field("comparator", &SortAttrs::comparator));
  }
};
/// Operands of one shape, moved together. Stable. In the standard order -0 equals +0 and NaN is
/// greater than everything, so it comes last, or first if descending.
struct Sort {
  using Kind = Custom;
  using Attrs = SortAttrs;
  static constexpr OpInfo kInfo{"sort", "Sorts along an axis, other operands along with the keys."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void batch(const Call& c, BatchContext& ctx);
  static constexpr Refusal kNoTranspose = kNotLinear;
};

struct TopKAttrs {
  Dim k = 0;
  DType dtype = DType::i32;  ///< of the positions
  static constexpr auto fields() {
    return std::tuple(ir::field("k", &TopKAttrs::k), ir::field("dtype", &TopKAttrs::dtype));
  }
};
/// Results: values and their positions, as the descending stable sort has them: NaN first, of
/// equals the lower position first.
struct TopK {
  using Kind = Custom;
  using Attrs = TopKAttrs;
  static constexpr OpInfo kInfo{"top_k", "The k largest of the last axis and their positions."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void batch(const Call& c, BatchContext& ctx);
  static constexpr Refusal kNoTranspose = kNotLinear;
};

}  // namespace tlaloc::ops
