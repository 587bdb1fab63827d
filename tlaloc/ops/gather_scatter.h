// gather and scatter, with StableHLO's dimension numbers, batch axes included.
#pragma once

#include "tlaloc/ops/op.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::ops {

/// Operands: x, indices. Its transpose is the scatter-add with the same dimension numbers, which an
/// accumulator takes in place.
struct Gather {
  using Kind = Custom;
  using Attrs = GatherAttrs;
  static constexpr OpInfo kInfo{"gather", "Windows of x at index vectors.", {.cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

/// Operands: x, indices, updates. Updates come in row-major order of the indices: with `set` the
/// last one wins, and gets the gradient alone; `min` and `max` share it among all that tie. In
/// place where nobody else holds x.
struct Scatter {
  using Kind = Custom;
  using Attrs = ScatterAttrs;
  static constexpr OpInfo kInfo{
      "scatter", "x with windows at index vectors updated, in order.", {.updates = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

/// What a gather of mode fill reads outside; see GatherAttrs::fill.
HostArray fill_value(DType dtype, std::optional<double> wanted);

}  // namespace tlaloc::ops
