// How fast text is read: a deep network's forward pass, in generic and in pretty form, and a module
// that is mostly one constant.
#include <benchmark/benchmark.h>

#include <string>

#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/stablehlo/import.h"
#include "tlaloc/stablehlo/tree.h"

namespace tlaloc::stablehlo {
namespace {

std::string generic_layers(std::int64_t layers) {
  using ops::operator+;
  const ir::Type t = ir::Type::get(DType::f32, {64, 64});
  ir::Builder b("layers");
  ir::Val x = b.param(t);
  const ir::Val w = b.param(t);
  for (std::int64_t i = 0; i < layers; ++i) x = ops::tanh(ops::matmul(x, w) + x);
  const ir::Val results[] = {x};
  return emit(*b.build(results), {}).text;
}
std::string pretty_layers(std::int64_t layers) {
  const std::string t = "tensor<64x64xf32>";
  std::string s = "module @layers {\n  func.func public @main(%arg0: " + t + ", %arg1: " + t +
                  ") -> (" + t + ") {\n";
  std::string x = "%arg0";
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string a = "%" + std::to_string(3 * i), b = "%" + std::to_string(3 * i + 1);
    const std::string y = "%" + std::to_string(3 * i + 2);
    s += "    " + a + " = stablehlo.dot_general " + x +
         ", %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (" + t + ", " +
         t + ") -> " + t + "\n    " + b + " = stablehlo.add " + a + ", " + x + " : " + t +
         "\n    " + y + " = stablehlo.tanh " + b + " : " + t + "\n";
    x = y;
  }
  return s + "    return " + x + " : " + t + "\n  }\n}\n";
}
std::string constant(std::int64_t elements) {
  const std::string t = "tensor<" + std::to_string(elements) + "xf32>";
  return "func.func @main() -> " + t + " {\n  %0 = stablehlo.constant dense<\"0x" +
         std::string(static_cast<std::size_t>(8 * elements), '3') + "\"> : " + t +
         "\n  return %0 : " + t + "\n}\n";
}

void run(benchmark::State& state, const std::string& text) {
  for (auto _ : state) benchmark::DoNotOptimize(import_stablehlo(text));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
void BM_ImportGeneric(benchmark::State& state) { run(state, generic_layers(state.range(0))); }
void BM_ImportPretty(benchmark::State& state) { run(state, pretty_layers(state.range(0))); }
void BM_ImportConstant(benchmark::State& state) { run(state, constant(state.range(0))); }
void BM_ParsePretty(benchmark::State& state) {
  const std::string text = pretty_layers(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(parse_tree(text, "<text>", 1));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(BM_ImportGeneric)->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ImportPretty)->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ParsePretty)->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_ImportConstant)->Arg(1 << 20)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tlaloc::stablehlo
