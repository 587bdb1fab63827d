// An identity that common work is not merged across.
#pragma once

#include "tlaloc/ops/op.h"

namespace tlaloc::ops {

/// Remat puts one in front of what it computes again: without it, the second computation would be
/// interned onto the first. The cotangent goes through one too.
struct OptimizationBarrier {
  using Kind = Custom;
  static constexpr OpInfo kInfo{"optimization_barrier", "x, never merged with its operand.",
                                {.unique = true, .cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c) { c.out.push_back(c.take(0)); }
  static void jvp(const Call&, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call&, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call&, BatchContext& ctx);
};

}  // namespace tlaloc::ops
