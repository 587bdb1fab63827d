// How fast text is written: a deep network's forward pass, a layer at a time.
#include <benchmark/benchmark.h>

#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/stablehlo/emit.h"

namespace tlaloc::stablehlo {
namespace {

void BM_Emit(benchmark::State& state) {
  using ops::operator+;
  const ir::Type t = ir::Type::get(DType::f32, {64, 64});
  ir::Builder b("layers");
  ir::Val x = b.param(t);
  const ir::Val w = b.param(t);
  for (std::int64_t i = 0; i < state.range(0); ++i) x = ops::tanh(ops::matmul(x, w) + x);
  const ir::Val results[] = {x};
  const ir::GraphRef g = b.build(results);
  std::size_t bytes = 0;
  for (auto _ : state) {
    const Emitted e = emit(*g, {});
    bytes += e.text.size();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * g->node_count()));
}
BENCHMARK(BM_Emit)->Arg(10)->Arg(1000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tlaloc::stablehlo
