// Products with quantized weights on one thread: the rate at which weights are read and multiplied,
// beside a product of f32 matrices of the same sizes.
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "bench/timing.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_quant.h"

namespace {

using namespace tlaloc;

constexpr std::int64_t kSide = 4096;

std::shared_ptr<const runtime::Executable> compiled(std::int64_t rows, const ir::Encoding* e) {
  ir::Builder b("f");
  const std::vector<ir::Dim> shape{kSide, kSide}, left{rows, kSide};
  const ir::Val x = b.param(ir::Type::get(DType::f32, left));
  const ir::Val w = b.param(ir::Type::get(DType::f32, shape, e));
  const ir::Val y = e ? ops::quant_matmul(x, w)
                      : ops::dot_general(x, w, {.lhs_contract = {1}, .rhs_contract = {1}});
  return cpu::cpu_backend().compile(b.build(ir::Vals{y}));
}

}  // namespace

int main() {
  cpu::set_num_threads(1);
  std::mt19937 bits(1);
  const HostArray dense(DType::f32, {kSide, kSide});
  std::printf("| %lld x %lld | rows | ms | GB/s of weights | GFLOP/s | f32, ms |\n",
              static_cast<long long>(kSide), static_cast<long long>(kSide));
  std::printf("|---|---:|---:|---:|---:|---:|\n");
  for (const char* name : {"q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q8_32"}) {
    const ir::Encoding* e = ir::find_encoding(name);
    HostArray w(DType::u8, {kSide, kSide / 32 * e->block_bytes});
    for (std::uint8_t& b : w.as_mutable<std::uint8_t>()) b = static_cast<std::uint8_t>(bits() % 60);
    for (const std::int64_t rows : {1, 4, 16, 64, 512}) {
      const HostArray x(DType::f32, {rows, kSide});
      const std::vector<runtime::Buffer> ours{runtime::Buffer(x), runtime::Buffer(w)},
          plain{runtime::Buffer(x), runtime::Buffer(dense)};
      const auto quantized = compiled(rows, e), product = compiled(rows, nullptr);
      quantized->run(ours);
      product->run(plain);
      std::vector<double> times, others;
      for (int round = 0; round < 9; ++round) {
        times.push_back(bench::time_of([&] { quantized->run(ours); }));
        others.push_back(bench::time_of([&] { product->run(plain); }));
      }
      const double t = bench::median(times);
      std::printf("| %s | %lld | %.2f | %.1f | %.1f | %.2f |\n", name, static_cast<long long>(rows),
                  1e3 * t, 1e-9 * static_cast<double>(w.bytes()) / t,
                  2e-9 * static_cast<double>(rows * kSide * kSide) / t,
                  1e3 * bench::median(others));
      std::fflush(stdout);
    }
  }
}
