// Decoding and encoding 16 MB of f32, beside copying them: bytes of f32 a second.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

#include "tlaloc/io/dequantize.h"

namespace tlaloc::io {
namespace {

constexpr std::size_t kElements = std::size_t{1} << 22;

std::vector<float> numbers() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(kElements);
  for (float& v : x) v = normal(random);
  return x;
}
std::size_t stored_bytes(Storage storage) {
  return kElements / usize(block_elements(storage)) * usize(block_bytes(storage));
}
void set_bytes(benchmark::State& state) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kElements * 4));
}

void BM_Copy(benchmark::State& state) {
  const std::vector<float> from = numbers();
  std::vector<float> to(kElements);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), kElements * 4);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  set_bytes(state);
}
BENCHMARK(BM_Copy)->Unit(benchmark::kMillisecond);

void BM_Dequantize(benchmark::State& state) {
  const auto storage = static_cast<Storage>(state.range(0));
  state.SetLabel(std::string(name(storage)));
  // The time does not depend on the bits, but for those of subnormal numbers: 0x3c3c is an f16
  // of 1.06.
  const std::vector<std::byte> blocks(stored_bytes(storage), std::byte{0x3c});
  std::vector<float> to(kElements);
  for (auto _ : state) {
    dequantize(storage, blocks, to, "");
    benchmark::ClobberMemory();
  }
  set_bytes(state);
}
void BM_Quantize(benchmark::State& state) {
  const auto storage = static_cast<Storage>(state.range(0));
  state.SetLabel(std::string(name(storage)));
  const std::vector<float> from = numbers();
  std::vector<std::byte> to(stored_bytes(storage));
  for (auto _ : state) {
    quantize(storage, from, to, "");
    benchmark::ClobberMemory();
  }
  set_bytes(state);
}
const int kRegistered = [] {
  for (int s = 0; s <= static_cast<int>(Storage::q1_0); ++s) {
    if (can_dequantize(static_cast<Storage>(s))) {
      benchmark::RegisterBenchmark("BM_Dequantize", BM_Dequantize)
          ->Arg(s)
          ->Unit(benchmark::kMillisecond);
    }
    if (can_quantize(static_cast<Storage>(s))) {
      benchmark::RegisterBenchmark("BM_Quantize", BM_Quantize)
          ->Arg(s)
          ->Unit(benchmark::kMillisecond);
    }
  }
  return 0;
}();

}  // namespace
}  // namespace tlaloc::io
