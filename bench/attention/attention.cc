// Attention of the CPU back end on one thread, forward and with gradients: processor time against
// the composite's body, which makes the matrix of scores, and against a product of matrices.
#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "bench/timing.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/gemm.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/reduce.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/transform/api.h"
#include "tlaloc/transform/inline_calls.h"

namespace {

using namespace tlaloc;
using bench::median;
using bench::seconds;
using bench::time_of;

constexpr std::int64_t kWidth = 64;

/// A product of 256 x 256 matrices, the yardstick: seconds of one multiply-add.
double multiply_add() {
  constexpr std::int64_t kSide = 256;
  static std::vector<float> memory(3 * kSide * kSide);
  static std::vector<std::byte> scratch(cpu::gemm_scratch_bytes(DType::f32) + 64);
  auto* aligned = reinterpret_cast<std::byte*>(
      (reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
  float* m = memory.data();
  const cpu::Gemm gemm{DType::f32,
                       kSide,
                       kSide,
                       kSide,
                       {m, kSide, 1},
                       {m + kSide * kSide, kSide, 1},
                       {m + 2 * kSide * kSide, kSide, 1}};
  return time_of([&] { cpu::gemm(gemm, aligned); }) / (kSide * kSide * kSide);
}

void measure(std::int64_t heads, std::int64_t sequence, bool causal, bool gradient) {
  const ir::Type type = ir::Type::get(DType::f32, {heads, sequence, kWidth});
  ir::Builder b("f");
  std::vector<ir::Val> p;
  for (int k = 0; k < 4; ++k) p.push_back(b.param(type));
  ir::Val y = ops::attention(p[0], p[1], p[2], {}, {.causal = causal});
  const std::int64_t all[] = {0, 1, 2};
  if (gradient) y = ops::reduce_sum(ops::mul(y, p[3]), all);
  ir::GraphRef g = b.build(ir::Vals{y});
  if (gradient) g = transform::value_and_grad(g, {true, true, true, false});
  std::vector<runtime::Buffer> inputs;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int k = 0; k < 4; ++k) {
    HostArray a(DType::f32, {heads, sequence, kWidth});
    for (float& x : a.as_mutable<float>()) x = normal(random);
    inputs.emplace_back(std::move(a));
  }
  const auto ours = cpu::cpu_backend().compile(g);
  const auto body = cpu::cpu_backend().compile(transform::inline_calls(g));
  ours->run(inputs);
  body->run(inputs);
  std::vector<double> times, bodies, products;
  for (int round = 0; round < 9; ++round) {
    times.push_back(time_of([&] { ours->run(inputs); }));
    bodies.push_back(time_of([&] { body->run(inputs); }));
    products.push_back(multiply_add());
  }
  // Two products forward; five more backward, where a causal mask hides half.
  const double work = static_cast<double>(heads * sequence * sequence * kWidth) *
                      (gradient ? 7 : 2) / (causal ? 2 : 1);
  const double t = median(times);
  std::printf("| %s, %ld x %ld%s | %.2f | %.0f | %.0f | %.2f |\n",
              gradient ? "forward and backward" : "forward", static_cast<long>(heads),
              static_cast<long>(sequence), causal ? ", causal" : "", 1e3 * t, 2e-9 * work / t,
              100 * work * median(products) / t, median(bodies) / t);
  std::fflush(stdout);
}

}  // namespace

int main() {
  cpu::set_num_threads(1);
  std::printf(
      "| heads x sequence | ms | GFLOP/s | %% of a product of matrices | times as fast as the body "
      "|\n|---|---:|---:|---:|---:|\n");
  for (const bool gradient : {false, true}) {
    for (const bool causal : {false, true}) {
      for (const std::int64_t sequence : {128, 512, 2048}) {
        measure(8 * 512 / sequence + 2, sequence, causal, gradient);
      }
    }
  }
}
