// Attention to pages on one thread: processor time of decoding a token over a long context, as a
// share of reading the same bytes, and of prompts against attention to one array of keys.
#include "tlaloc/ops/paged.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/timing.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/ops/nn.h"

namespace {

using namespace tlaloc;
using bench::median;
using bench::time_of;

constexpr std::int64_t kPage = 16;
constexpr int kRounds = 9;

HostArray floats(std::mt19937& random, DType t, Extents extents) {
  HostArray a(t, std::move(extents));
  std::normal_distribution<float> normal;
  dispatch(t, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_constructible_v<T, float>) {
      T* to = static_cast<T*>(a.mutable_data());
      for (std::int64_t i = 0; i < a.size(); ++i) to[i] = static_cast<T>(normal(random));
    }
  });
  return a;
}

/// The kernels on `count` tokens at the end of a context, in pages of random order.
struct Sequence {
  Sequence(DType pool, std::int64_t heads, std::int64_t shared, std::int64_t width,
           std::int64_t context, std::int64_t count) {
    std::mt19937 random(1);
    const std::int64_t pages = context / kPage;
    std::vector<std::int32_t> table(static_cast<std::size_t>(pages)), places, rows;
    std::iota(table.begin(), table.end(), 0);
    std::ranges::shuffle(table, random);
    for (std::int64_t i = context - count; i < context; ++i) {
      places.push_back(static_cast<std::int32_t>(i));
      rows.push_back(0);
    }
    inputs.emplace_back(floats(random, DType::f32, {count, heads, width}));
    for (int k = 0; k < 2; ++k) {
      inputs.emplace_back(floats(random, pool, {pages, kPage, shared, width}));
    }
    inputs.emplace_back(HostArray::from<std::int32_t>(places, {count}));
    inputs.emplace_back(HostArray::from<std::int32_t>(rows, {count}));
    inputs.emplace_back(HostArray::from<std::int32_t>(table, {1, pages}));
    ir::Builder b("f");
    std::vector<ir::Val> p;
    for (const runtime::Buffer& in : inputs) {
      const HostArray a = in.to_host();
      const std::vector<ir::Dim> shape(a.extents().begin(), a.extents().end());
      p.push_back(b.param(ir::Type::get(a.dtype(), shape)));
    }
    executable = cpu::cpu_backend().compile(
        b.build(ir::Vals{ops::paged_attention(p[0], p[1], p[2], p[3], p[4], p[5], {})}));
    executable->run(inputs);
  }
  std::vector<runtime::Buffer> inputs;
  std::shared_ptr<const runtime::Executable> executable;
};

/// Four streams, far apart.
double read(const std::vector<float>& memory) {
  using Vector = float __attribute__((vector_size(64)));
  const std::size_t n = memory.size() / 4 / 16 * 16;
  Vector sums[4] = {};
  const double t = time_of([&] {
    for (std::size_t i = 0; i < n; i += 16) {
      for (std::size_t s = 0; s < 4; ++s) {
        Vector v;
        __builtin_memcpy(&v, memory.data() + s * n + i, sizeof v);
        sums[s] += v;
      }
    }
  });
  // Sums that somebody looks at are made.
  if (sums[0][0] + sums[1][0] + sums[2][0] + sums[3][0] < 0) std::puts("impossible");
  return static_cast<double>(4 * n * sizeof(float)) / t;
}

void decode(DType pool, std::int64_t group, std::int64_t width) {
  constexpr std::int64_t kShared = 8, kContext = 16384;
  Sequence s(pool, kShared * group, kShared, width, kContext, 1);
  const std::vector<float> memory(40'000'000, 1.0f);
  std::vector<double> rates, reads;
  const double bytes = 2.0 * kContext * kShared * static_cast<double>(width * byte_size(pool));
  for (int round = 0; round < kRounds; ++round) {
    rates.push_back(bytes / time_of([&] { s.executable->run(s.inputs); }));
    reads.push_back(read(memory));
  }
  const double rate = median(rates);
  const double work = 4.0 * kContext * kShared * static_cast<double>(group * width);
  std::printf("| %s, 8 x %ld heads of %ld | %.2f | %.1f | %.0f | %.0f |\n",
              std::string(name(pool)).c_str(), static_cast<long>(group), static_cast<long>(width),
              1e3 * bytes / rate, 1e-9 * rate, 100 * rate / median(reads),
              1e-9 * work * rate / bytes);
  std::fflush(stdout);
}

void prompt(DType pool, std::int64_t group, std::int64_t width, std::int64_t length) {
  constexpr std::int64_t kShared = 4;
  Sequence s(pool, kShared * group, kShared, width, length, length);
  std::mt19937 random(1);
  ir::Builder b("f");
  std::vector<ir::Val> p;
  std::vector<runtime::Buffer> inputs;
  for (const std::int64_t heads : {kShared * group, kShared, kShared}) {
    p.push_back(b.param(ir::Type::get(DType::f32, {{heads, length, width}})));
    inputs.emplace_back(floats(random, DType::f32, {heads, length, width}));
  }
  const auto dense = cpu::cpu_backend().compile(
      b.build(ir::Vals{ops::attention(p[0], p[1], p[2], {}, {.causal = true})}));
  dense->run(inputs);
  std::vector<double> times, others;
  for (int round = 0; round < kRounds; ++round) {
    times.push_back(time_of([&] { s.executable->run(s.inputs); }));
    others.push_back(time_of([&] { dense->run(inputs); }));
  }
  const double work = 2.0 * static_cast<double>(kShared * group * length * length * width);
  std::printf("| %s, 4 x %ld heads of %ld, %ld tokens | %.2f | %.0f | %.2f |\n",
              std::string(name(pool)).c_str(), static_cast<long>(group), static_cast<long>(width),
              static_cast<long>(length), 1e3 * median(times), 1e-9 * work / median(times),
              median(others) / median(times));
  std::fflush(stdout);
}

}  // namespace

int main() {
  cpu::set_num_threads(1);
  std::printf(
      "| one token over 16384 | ms | GB/s | %% of reading | GFLOP/s |\n"
      "|---|---:|---:|---:|---:|\n");
  for (const DType pool : {DType::f32, DType::f16, DType::bf16}) {
    for (const std::int64_t group : {1, 4, 8}) {
      for (const std::int64_t width : {64, 128}) decode(pool, group, width);
    }
  }
  std::printf(
      "\n| prompt, causal | ms | GFLOP/s | times as fast as of one array "
      "|\n|---|---:|---:|---:|\n");
  for (const DType pool : {DType::f32, DType::bf16}) {
    for (const std::int64_t length : {128, 512, 2048}) {
      prompt(pool, 4, 64, length);
      prompt(pool, 1, 128, length);
    }
  }
}
