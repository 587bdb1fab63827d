// Sums and exchanges between the devices of a mesh axis. Evaluated on one device only; elsewhere
// the meaning is: every device applies the op to its own operand. Transposes are of the map from
// all devices' operands to all devices' results.
#pragma once

#include "tlaloc/ops/op.h"
#include "tlaloc/ops/val_system.h"

namespace tlaloc::ops {

struct AllReduceAttrs {
  Collective reduction = Collective::sum;
  MeshAxis over;
  static constexpr auto fields() {
    return std::tuple(ir::field("reduction", &AllReduceAttrs::reduction),
                      ir::field("over", &AllReduceAttrs::over));
  }
};
/// Equal extremes of several devices share the tangent equally.
struct AllReduce {
  using Kind = Custom;
  using Attrs = AllReduceAttrs;
  static constexpr OpInfo kInfo{"all_reduce", "The sum or extreme over the devices of an axis."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

struct ExchangeAttrs {
  std::int64_t axis = 0;
  MeshAxis over;
  static constexpr auto fields() {
    return std::tuple(ir::field("axis", &ExchangeAttrs::axis),
                      ir::field("over", &ExchangeAttrs::over));
  }
};
struct AllGather {
  using Kind = Custom;
  using Attrs = ExchangeAttrs;
  static constexpr OpInfo kInfo{"all_gather", "The devices' operands, joined along an axis."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};
struct ReduceScatter {
  using Kind = Custom;
  using Attrs = ExchangeAttrs;
  static constexpr OpInfo kInfo{"reduce_scatter", "A device's part of the sum over devices."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

/// The axis that a collective with these attributes is over; null for attributes of other ops.
inline const MeshAxis* collective_axis(const ir::Attr* attr) {
  if (const auto* a = ir::attr_if<AllReduceAttrs>(attr)) return &a->over;
  const auto* a = ir::attr_if<ExchangeAttrs>(attr);
  return a ? &a->over : nullptr;
}

}  // namespace tlaloc::ops
