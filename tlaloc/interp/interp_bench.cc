// Overhead per node and per loop iteration.
#include <benchmark/benchmark.h>

#include "tlaloc/interp/plan.h"
#include "tlaloc/interp/testing.h"

namespace tlaloc::interp {
namespace {

using namespace testing;  // NOLINT: short forms
using namespace ops;      // NOLINT: the operators
using ir::Vals;

void chain(benchmark::State& state, ir::Type type, const HostArray& x) {
  const int count = 1000;
  const ir::GraphRef g = graph({type}, [&](const Vals& p) -> Vals {
    ir::Val y = p[0];
    for (int i = 0; i < count; ++i) y = y * p[0];
    return {y};
  });
  for (auto _ : state) benchmark::DoNotOptimize(run(*g, {x}));
  state.SetItemsProcessed(state.iterations() * count);
}
void BM_Scalars(benchmark::State& state) { chain(state, f64(), HostArray::scalar(1.0)); }
void BM_Symbolic(benchmark::State& state) {
  chain(state, f64({ir::Symbol::fresh("n")}), f64s({1, 1, 1, 1}));
}
BENCHMARK(BM_Scalars);
BENCHMARK(BM_Symbolic);

/// i counts down to 0: two nodes in the condition, two in the body.
void BM_While(benchmark::State& state) {
  const std::int64_t trips = 1000;
  const ir::GraphRef g = graph({i64()}, [&](const Vals& p) -> Vals {
    return ir::emit_while(
               {.inv = {},
                .init = p,
                .cond =
                    graph({i64()},
                          [](const Vals& c) -> Vals { return {c[0] > scalar_int(0, DType::i64)}; }),
                .body = graph({i64()}, [](const Vals& c) -> Vals { return {c[0] - 1.0}; })})
        .out;
  });
  for (auto _ : state) benchmark::DoNotOptimize(run(*g, {HostArray::scalar(trips)}));
  state.SetItemsProcessed(state.iterations() * trips);
}
BENCHMARK(BM_While);

void BM_Scan(benchmark::State& state) {
  const std::int64_t length = 1000;
  const ir::GraphRef g = graph({f64(), f64({length})}, [&](const Vals& p) -> Vals {
    return ir::emit_scan({.inv = {},
                          .init = {p[0]},
                          .xs = {p[1]},
                          .body = graph({f64(), f64()},
                                        [](const Vals& b) -> Vals {
                                          const ir::Val s = b[0] + b[1];
                                          return {s, s};
                                        }),
                          .length = length})
        .out;
  });
  const HostArray xs(DType::f64, {length});
  for (auto _ : state) benchmark::DoNotOptimize(run(*g, {HostArray::scalar(0.0), xs}));
  state.SetItemsProcessed(state.iterations() * length);
}
BENCHMARK(BM_Scan);

void BM_PlanOnly(benchmark::State& state) {
  const int count = 100'000;
  const ir::GraphRef g = graph({f64()}, [&](const Vals& p) -> Vals {
    ir::Val y = p[0];
    for (int i = 0; i < count; ++i) y = sin(y);
    return {y};
  });
  for (auto _ : state) benchmark::DoNotOptimize(Program(*g));
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(BM_PlanOnly);

}  // namespace
}  // namespace tlaloc::interp
