#include "tlaloc/ops/barrier.h"

#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

void OptimizationBarrier::infer(InferContext& c) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  c.out.push_back(c.in[0]);
}
void OptimizationBarrier::jvp(const Call&, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = dx[0];
}
void OptimizationBarrier::transpose(const Call&, std::span<const Val> ct, CotangentSink& sink) {
  sink.add(0, optimization_barrier(ct[0]));
}
void OptimizationBarrier::batch(const Call&, BatchContext& ctx) {
  ctx.set(0, optimization_barrier(ctx.lifted(0)));
}

void StopGradient::batch(const Call&, BatchContext& ctx) {
  ctx.set(0, stop_gradient(ctx.lifted(0)));
}

TLALOC_ROW(OptimizationBarrier);
TLALOC_ROW(StopGradient);

Val optimization_barrier(Val x) {
  return ir::Builder::current().emit(rows::OptimizationBarrier, nullptr, {x});
}

Val stop_gradient(Val x) { return ir::Builder::current().emit(rows::StopGradient, nullptr, {x}); }

}  // namespace tlaloc::ops
