// What a kernel of twenty operations costs, by where its code comes from.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "tlaloc/codegen/testdata/kernels.h"
#include "tlaloc/cpu/compiler.h"

namespace tlaloc::cpu {
namespace {

void bench(benchmark::State& state, const Settings& settings, bool hold) {
  const std::string text = codegen::kernels(1, 10);
  Compiler compiler(settings);
  auto held = compiler.compile(text, {});
  for (auto _ : state) {
    if (!hold) held.reset();
    held = compiler.compile(text, {});
  }
}

void BM_Compiled(benchmark::State& state) { bench(state, {}, false); }
void BM_FromMemory(benchmark::State& state) { bench(state, {}, true); }
void BM_FromDisk(benchmark::State& state) {
  const auto folder = std::filesystem::temp_directory_path() / "tlaloc-compiler-bench";
  bench(state, {.cache = {.folder = folder.string()}}, false);
  std::filesystem::remove_all(folder);
}
BENCHMARK(BM_Compiled)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_FromDisk)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_FromMemory)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tlaloc::cpu
