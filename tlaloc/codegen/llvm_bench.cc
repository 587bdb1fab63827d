// Processor time per kernel of twenty operations, by passes, by effort, and by kernels per module.
#include <benchmark/benchmark.h>

#include <string>

#include "tlaloc/codegen/elf_link.h"
#include "tlaloc/codegen/llvm.h"
#include "tlaloc/codegen/testdata/kernels.h"

namespace tlaloc::codegen {
namespace {

void bench(benchmark::State& state, const std::string& text, const char* passes, int level,
           int kernels) {
  const Request request{.name = "bench",
                        .ir = text.data(),
                        .ir_size = text.size(),
                        .passes = passes,
                        .cpu = "",
                        .features = "",
                        .level = level,
                        .explain = 0};
  for (auto _ : state) benchmark::DoNotOptimize(link_object(compile(request).object, "bench"));
  state.SetItemsProcessed(state.iterations() * kernels);
}

void BM_Passes(benchmark::State& state, const char* passes) {
  bench(state, kernels(1, 10), passes, 2, 1);
}
BENCHMARK_CAPTURE(BM_Passes, none, "")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Passes, kernel, "early-cse,instcombine")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Passes, O2, "default<O2>")->Unit(benchmark::kMillisecond);

void BM_Level(benchmark::State& state) {
  bench(state, kernels(1, 10), "early-cse,instcombine", static_cast<int>(state.range(0)), 1);
}
BENCHMARK(BM_Level)->DenseRange(0, 3)->Unit(benchmark::kMillisecond);

void BM_KernelsPerModule(benchmark::State& state) {
  const int count = static_cast<int>(state.range(0));
  bench(state, kernels(count, 10), "early-cse,instcombine", 2, count);
}
BENCHMARK(BM_KernelsPerModule)->Arg(1)->Arg(4)->Arg(16)->Unit(benchmark::kMillisecond);

void BM_EmptyModule(benchmark::State& state) { bench(state, "", "early-cse,instcombine", 2, 1); }
BENCHMARK(BM_EmptyModule)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tlaloc::codegen
