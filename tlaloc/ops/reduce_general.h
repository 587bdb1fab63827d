// Folding with any reducer.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "tlaloc/ops/kinds.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::ops {

struct FoldAttrs {
  std::vector<std::int64_t> axes;  ///< strictly increasing; they vanish
  ir::GraphAttr reducer;           ///< (acc…, x…) -> acc…, on scalars
  static constexpr auto fields() {
    return std::tuple(ir::field("axes", &FoldAttrs::axes),
                      ir::field("reducer", &FoldAttrs::reducer));
  }
};
/// Operands: arrays of one shape, then as many starts, each of rank 0 or of the result's shape.
/// Results: acc…, folded from the start in row-major order of the axes; each step rounds to the
/// declared dtype. The derivative is a scan.
struct Reduce {
  using Kind = Custom;
  using Attrs = FoldAttrs;
  static constexpr OpInfo kInfo{"reduce", "Folds axes with a reducer graph, in row-major order."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // of an op with a reduction of its own, from its identity
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void batch(const Call& c, BatchContext& ctx);
  static constexpr Refusal kNoTranspose = kNotLinear;
};

/// The results of Reduce on these operands from a scan, with the same bits; for back ends that
/// compile scans.
Vals reduce_by_scan(const FoldAttrs& attrs, const Vals& in);

/// What a reducer of one array is when it starts from its identity, and a reduction that rounds
/// once gives the same.
std::optional<Monoid> known_monoid(const ir::Graph& reducer, Val start);

}  // namespace tlaloc::ops
