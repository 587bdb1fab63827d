// Identities that transforms respect: one that common work is not merged across, one that tangents
// do not pass.
#pragma once

#include "tlaloc/ops/op.h"

namespace tlaloc::ops {

/// Remat puts one in front of what it computes again: without it, the second computation would be
/// interned onto the first. The cotangent goes through one too.
struct OptimizationBarrier {
  using Kind = Custom;
  static constexpr OpInfo kInfo{
      "optimization_barrier", "x, never merged with its operand.", {.unique = true, .cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c) { c.out.push_back(c.take(0)); }
  static void jvp(const Call&, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call&, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call&, BatchContext& ctx);
};

/// An identity whose tangent is zero.
struct StopGradient {
  using Kind = Custom;
  static constexpr OpInfo kInfo{"stop_gradient", "x, without a tangent.", {.cheap = true}};
  static void infer(InferContext& c) { OptimizationBarrier::infer(c); }
  static void eval(EvalContext& c) { c.out.push_back(c.take(0)); }
  static void jvp(const Call&, std::span<const Val>, std::span<Val>) {}
  static constexpr Refusal kNoTranspose{"its tangent is zero, so nothing linear goes through it"};
  static void batch(const Call&, BatchContext& ctx);
};

}  // namespace tlaloc::ops
