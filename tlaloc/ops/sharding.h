// Where values lie on a mesh. What a program computes does not depend on it.
#pragma once

#include "tlaloc/ir/sharding.h"
#include "tlaloc/ops/op.h"

namespace tlaloc::ops {

struct ShardingAttrs {
  ir::Sharding sharding;
  static constexpr auto fields() {
    return std::tuple(ir::field("sharding", &ShardingAttrs::sharding));
  }
};
/// Tangents and cotangents lie as the value does.
struct ShardingConstraint {
  using Kind = Custom;
  using Attrs = ShardingAttrs;
  static constexpr OpInfo kInfo{"sharding_constraint",
                                "The operand, laid out on a mesh like that."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static Val simplify(const Call& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
