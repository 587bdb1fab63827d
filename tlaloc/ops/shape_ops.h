// Ops that move elements without computing: broadcast, reshape, transpose. All linear.
#pragma once

#include <tuple>
#include <vector>

#include "tlaloc/ops/kinds.h"

namespace tlaloc::ops {

/// A linear op of one operand whose jvp is itself.
struct LinearUnary {
  using Kind = Custom;
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
    dy[0] = emit_like(c, {dx[0]});
  }
};

struct BroadcastInDimAttrs {
  std::vector<Dim> shape;
  std::vector<std::int64_t> axes;
  static constexpr auto fields() {
    return std::tuple(ir::field("shape", &BroadcastInDimAttrs::shape),
                      ir::field("axes", &BroadcastInDimAttrs::axes));
  }
};
struct BroadcastInDim : LinearUnary {
  using Attrs = BroadcastInDimAttrs;
  static constexpr OpInfo kInfo{
      "broadcast_in_dim",
      "Operand axis i becomes result axis axes[i]; a literal 1 stretches.",
      {.cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // to its own type
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

struct ReshapeAttrs {
  std::vector<Dim> shape;
  static constexpr auto fields() { return std::tuple(ir::field("shape", &ReshapeAttrs::shape)); }
};
struct Reshape : LinearUnary {
  using Attrs = ReshapeAttrs;
  static constexpr OpInfo kInfo{
      "reshape", "The same elements, row-major, in another shape.", {.cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // to its own type; of a reshape
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

struct TransposeAttrs {
  std::vector<std::int64_t> permutation;
  static constexpr auto fields() {
    return std::tuple(ir::field("permutation", &TransposeAttrs::permutation));
  }
};
struct Transpose : LinearUnary {
  using Attrs = TransposeAttrs;
  static constexpr OpInfo kInfo{
      "transpose", "Result axis i is operand axis permutation[i].", {.cheap = true}};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);  // identity; of a transpose
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
