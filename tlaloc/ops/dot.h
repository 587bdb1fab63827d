// dot_general: sums of products over pairs of axes.
#pragma once

#include "tlaloc/ops/op.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::ops {

/// Each sum starts at 0 and takes the contracted elements in row-major order of lhs_contract. f16
/// and bf16 accumulate in f32 and round once; f32 and f64 accumulate in themselves; integers wrap.
struct DotGeneral {
  using Kind = Custom;
  using Attrs = DotDims;
  static constexpr OpInfo kInfo{
      "dot_general", "Sums of products over pairs of axes; f16 and bf16 round once, at the end."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
