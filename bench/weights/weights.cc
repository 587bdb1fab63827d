// Products with packed weights on one thread, with the shapes of a small language model: the rate
// at which weights are read, beside what four streams of memory give, and multiply-adds beside what
// the CPU can do at most. All take turns.
// usage: weights_bench [ROUNDS] [NAME] [avx2]   (only rows whose text contains NAME; as on a CPU
// without AVX-512)
#include <hwy/targets.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "bench/ceilings.h"
#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/gemm.h"
#include "tlaloc/cpu/integer_product.h"
#include "tlaloc/cpu/scratch.h"

namespace {

using namespace tlaloc;
using namespace tlaloc::cpu;

struct Shape {
  std::int64_t k, n;
};

void measure(Packing packing, bool rounds_x, const char* text, Shape s, std::int64_t rows,
             int rounds) {
  const std::size_t one = (packed_bytes(packing, s.k, s.n) + 4095) / 4096 * 4096;
  // Few rows read weights from memory, as a model's are.
  const std::size_t copies = rows <= 16 ? (std::size_t{256} << 20) / one + 1 : 1;
  const Scratch weights(one * copies), scratch(gemm_scratch_bytes(DType::f32));
  std::mt19937 bits(1);
  {
    std::vector<std::uint8_t> any(usize(4 * s.k * s.n));
    for (std::uint8_t& b : any) b = static_cast<std::uint8_t>(bits() % 60);
    if (packing < Packing::q8_0) {
      pack_right(packing, s.k, s.n, any.data(), 1, s.k, weights.get());
    } else {
      pack_blocks(packing, s.k, s.n, any.data(), weights.get());
    }
  }
  for (std::size_t i = 1; i < copies; ++i) {
    std::memcpy(weights.get() + i * one, weights.get(), one);
  }
  std::vector<float> x(usize(rows * s.k), 0.5F), y(usize(rows * s.n));
  auto multiply = [&](std::size_t copy) {
    const PackedRight right{packing, weights.get() + copy * one};
    if (rounds_x) {
      const IntegerProduct::Side side{right, s.n, y.data(), s.n};
      return multiply_by_integers({rows, s.k, x.data(), {&side, 1}});
    }
    gemm({.dtype = DType::f32,
          .m = rows,
          .n = s.n,
          .k = s.k,
          .a = {x.data(), s.k, 1},
          .b = {},
          .c = {y.data(), s.n, 1},
          .packed_b = right},
         scratch.get());
  };
  const double flops = 2.0 * static_cast<double>(rows * s.k * s.n);
  const int repeats = copies > 1 ? static_cast<int>(copies) : std::max(1, int(2e8 / flops));
  std::vector<double> rates, reads, shares, peaks;
  for (int round = 0; round < rounds; ++round) {
    const double read = bench::reading(reinterpret_cast<const float*>(weights.get()),
                                       static_cast<std::int64_t>(one * copies / 4));
    const double before = bench::peak();
    const double start = bench::seconds();
    for (int r = 0; r < repeats; ++r) multiply(static_cast<std::size_t>(r) % copies);
    const double time = (bench::seconds() - start) / repeats;
    rates.push_back(1e-9 * static_cast<double>(packed_bytes(packing, s.k, s.n)) / time);
    reads.push_back(100 * rates.back() / read);
    shares.push_back(1e-9 * flops / time);
    peaks.push_back(200 * shares.back() / (before + bench::peak()));
  }
  std::printf("| %s | %.1f | %.0f | %.1f | %.0f |\n", text, bench::median(rates),
              bench::median(reads), bench::median(shares), bench::median(peaks));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  set_num_threads(1);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 11;
  const std::string only = argc > 2 ? argv[2] : "";
  if (argc > 3 && std::string(argv[3]) == "avx2") {
    hwy::SetSupportedTargetsForTest(hwy::SupportedTargets() & ~(HWY_AVX2 - 1));
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  std::printf("| weights, rows x k x n | GB/s | %% of reading | GFLOP/s | %% of multiply-adds |\n");
  std::printf("|---|---:|---:|---:|---:|\n");
  constexpr Shape kShapes[] = {{576, 576}, {576, 1536}, {1536, 576}, {576, 49152}};
  constexpr Packing kPackings[] = {Packing::f32,  Packing::f16,  Packing::bf16, Packing::q8_0,
                                   Packing::q4_0, Packing::q4_1, Packing::q5_0, Packing::q5_1};
  for (const Packing p : kPackings) {
    for (const bool rounds_x : {false, true}) {
      if (rounds_x && (p < Packing::q8_0 || !multiplies_by_integers(p))) continue;
      for (const Shape s : kShapes) {
        for (const int rows : {1, 4, 16, 512}) {
          if (s.n > 2000 && rows > 16) continue;  // a prompt's last row alone meets the head
          char text[64];
          std::snprintf(text, sizeof text, "%s%s, %d x %d x %d", packing_name(p),
                        rounds_x ? " by integers" : "", rows, int(s.k), int(s.n));
          if (std::string(text).find(only) == std::string::npos) continue;
          measure(p, rounds_x, text, s, rows, rounds);
        }
      }
    }
  }
}
