// Convolution, with StableHLO's dimension numbers. Both of its gradients are convolutions.
#pragma once

#include "tlaloc/ops/op.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::ops {

/// Sizes: a spatial axis of n elements becomes m = n + max(n - 1, 0) * (dilation - 1), a kernel
/// axis likewise k; the result has max(0, floordiv(low + m + high - k, stride) + 1).
///
/// Each sum starts at 0 and runs over the kernel positions in row-major order, then over the
/// features of the group. Positions in the padding are skipped, not multiplied by zero. f16 and
/// bf16 accumulate in f32 and round once; integers wrap.
struct Convolution {
  using Kind = Custom;
  using Attrs = ConvAttrs;
  static constexpr OpInfo kInfo{
      "convolution", "Sums of products of windows; f16 and bf16 round once, at the end."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
