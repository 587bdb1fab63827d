// Products of matrices against OpenBLAS, oneDNN and what the CPU can do at most, on one thread.
// usage: gemm_bench [ROUNDS] [NAME]   (only cases whose name contains NAME)
#include "tlaloc/cpu/gemm.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/ceilings.h"

namespace {

using bench::peak;
using bench::reading;
using bench::seconds;

using tlaloc::DType;
using tlaloc::cpu::Gemm;
using tlaloc::cpu::Packing;
using Size = std::int64_t;

// The peers' C interfaces.
using Cblas = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                       float, float*, int);
using Dnnl = int (*)(char, char, Size, Size, Size, float, const float*, Size, const float*, Size,
                     float, float*, Size);

template <class F>
F function(void* library, const char* name) {
  return library ? reinterpret_cast<F>(dlsym(library, name)) : nullptr;
}

struct Case {
  std::string name;
  Size m, n, k;
  bool transposed = false;  ///< B lies as [n, k]
  bool packed = false;      ///< ours gets B packed before
  /// How many times as fast as the faster peer it must be, and what share of reading it must reach
  /// in percent; 0: it is only measured.
  double must = 0, must_read = 0;
};
/// What counts as not slower.
constexpr double kNotSlower = 1 / 1.03;

struct Aligned {
  explicit Aligned(std::size_t bytes)
      : memory(static_cast<std::byte*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)),
               std::free) {
    std::memset(memory.get(), 0, bytes);
  }
  float* floats() const { return reinterpret_cast<float*>(memory.get()); }
  std::unique_ptr<std::byte, void (*)(void*)> memory;
};

/// Whether an interval, and not only its middle, is above or below a limit.
const char* holds(const bench::Interval& x, double must) {
  return x.low >= must ? "yes" : x.high < must ? "**no**" : "within the noise";
}

void measure(const Case& c, int rounds, Cblas blas, Dnnl dnnl) {
  const Size size_a = c.m * c.k, size_b = c.k * c.n, size_c = c.m * c.n;
  // A right side that is read once per product comes from memory, as a model's weights do.
  const Size copies = c.m <= 64 && c.k > 64 ? std::max<Size>(1, (96 << 20) / (4 * size_b)) : 1;
  const Aligned a(4 * size_a), b(4 * size_b * copies), ours(4 * size_c), theirs(4 * size_c);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-1, 1);
  for (Size i = 0; i < size_a; ++i) a.floats()[i] = values(random);
  for (Size i = 0; i < size_b; ++i) b.floats()[i] = values(random);
  for (Size i = 1; i < copies; ++i) {
    std::memcpy(b.floats() + i * size_b, b.floats(), 4 * static_cast<std::size_t>(size_b));
  }
  const tlaloc::cpu::Matrix right{b.floats(), c.transposed ? 1 : c.n, c.transposed ? c.k : 1};
  const std::size_t one = c.packed ? tlaloc::cpu::packed_bytes(Packing::f32, c.k, c.n) : 0;
  const Aligned packed(one * static_cast<std::size_t>(copies));
  for (Size i = 0; c.packed && i < copies; ++i) {
    tlaloc::cpu::pack_right(Packing::f32, c.k, c.n, right.data, right.row, right.column,
                            packed.memory.get() + static_cast<std::size_t>(i) * one);
  }
  const Aligned scratch(tlaloc::cpu::gemm_scratch_bytes(DType::f32));

  Size turn = 0;
  auto next = [&] { return turn++ % copies; };
  std::vector<std::function<void()>> runs{[&] {
    const Size i = next();
    Gemm g{DType::f32, c.m, c.n, c.k, {a.floats(), c.k, 1}, right, {ours.floats(), c.n, 1}};
    g.b.data = b.floats() + i * size_b;
    if (c.packed)
      g.packed_b = {Packing::f32, packed.memory.get() + static_cast<std::size_t>(i) * one};
    tlaloc::cpu::gemm(g, scratch.memory.get());
  }};
  const auto m = static_cast<int>(c.m), n = static_cast<int>(c.n), k = static_cast<int>(c.k);
  const int ldb = c.transposed ? k : n;
  if (blas) {
    runs.emplace_back([&] {
      blas(101, 111, c.transposed ? 112 : 111, m, n, k, 1, a.floats(), k,
           b.floats() + next() * size_b, ldb, 0, theirs.floats(), n);
    });
  }
  if (dnnl) {
    runs.emplace_back([&] {
      dnnl('N', c.transposed ? 'T' : 'N', c.m, c.n, c.k, 1, a.floats(), c.k,
           b.floats() + next() * size_b, ldb, 0, theirs.floats(), c.n);
    });
  }
  const double flops = 2.0 * static_cast<double>(c.m) * static_cast<double>(c.n * c.k);
  const int repeats = std::max(1, static_cast<int>(3e8 / flops));
  for (auto& run : runs) run();
  for (Size i = 0; runs.size() > 1 && i < size_c; ++i) {
    if (std::abs(ours.floats()[i] - theirs.floats()[i]) > 1e-4f * static_cast<float>(c.k)) {
      std::printf("%s: results differ\n", c.name.c_str());
      std::exit(1);
    }
  }
  // They take turns, back and forth, so that what the machine does meanwhile meets all of them.
  std::vector<std::vector<double>> times(runs.size());
  std::vector<double> shares, reads;
  for (int round = 0; round < rounds; ++round) {
    const double before = peak();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const std::size_t which = round % 2 ? runs.size() - 1 - i : i;
      const double start = seconds();
      for (int r = 0; r < repeats; ++r) runs[which]();
      times[which].push_back((seconds() - start) / repeats);
    }
    shares.push_back(100 * flops / times[0].back() / 1e9 / ((before + peak()) / 2));
    if (copies > 1) {
      reads.push_back(100 * 4 * static_cast<double>(size_b) / times[0].back() / 1e9 /
                      reading(b.floats(), size_b * copies));
    }
  }
  std::printf("| %s | %.1f | %.0f |", c.name.c_str(), flops / bench::median(times[0]) / 1e9,
              bench::median(shares));
  const auto print = [](const char* form, const bench::Interval& x) {
    std::printf(form, x.median, x.low, x.high);
    return x;
  };
  bench::Interval read{};
  if (reads.empty()) {
    std::printf(" |");
  } else {
    read = print(" %.0f [%.0f, %.0f] |", bench::interval(reads));
  }
  const char* const form = " %.2f [%.2f, %.2f] |";
  std::vector<double> best(static_cast<std::size_t>(rounds), HUGE_VAL);
  for (std::size_t p = 1; p < runs.size(); ++p) {
    std::vector<double> ratios;
    for (std::size_t r = 0; r < best.size(); ++r) {
      ratios.push_back(times[p][r] / times[0][r]);
      best[r] = std::min(best[r], ratios.back());
    }
    print(form, bench::interval(ratios));
  }
  const bench::Interval faster = print(form, bench::interval(best));
  if (c.must_read > 0) {
    std::printf(" %.0f %% of reading | %s |\n", c.must_read, holds(read, c.must_read));
  } else if (c.must > 0) {
    std::printf(" %.2f | %s |\n", c.must, holds(faster, c.must));
  } else {
    std::printf(" | |\n");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("OPENBLAS_NUM_THREADS", "1", 1);
  const Cblas blas = function<Cblas>(dlopen("libopenblas.so.0", RTLD_NOW), "cblas_sgemm");
  const Dnnl dnnl = function<Dnnl>(dlopen("libdnnl.so.2", RTLD_NOW), "dnnl_sgemm");
  if (!blas || !dnnl) {
    std::fprintf(stderr, "the peers are missing: ./setup --peers\n");
    return 1;
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 21;
  const std::string only = argc > 2 ? argv[2] : "";
  std::vector<Case> cases;
  for (Size n : {8, 16, 32, 64, 128, 256, 512, 1024, 2048}) {
    cases.push_back({.name = std::to_string(n) + " cubed",
                     .m = n,
                     .n = n,
                     .k = n,
                     .must = n >= 128 ? kNotSlower : 0});
  }
  for (Size n : {32, 128, 512}) {
    cases.push_back({std::to_string(n) + " cubed, B transposed", n, n, n, true});
  }
  for (const auto& [text, transposed, packed] : {std::tuple{"", false, false},
                                                 {", B transposed", true, false},
                                                 {", B packed", true, true}}) {
    for (Size m : {1, 2, 4, 8, 16, 32, 64}) {
      Case c{std::to_string(m) + " x 2048 x 2048" + text, m, 2048, 2048, transposed, packed};
      if (packed && m == 1) c.must_read = 95;
      if (packed && (m == 4 || m == 8)) c.must = 1.7;
      if (packed && m == 16) c.must = 1.4;
      if (packed && m == 64) c.must = kNotSlower;
      cases.push_back(c);
    }
  }
  std::printf(
      "| product | GFLOP/s | %% of multiply-adds | %% of reading | faster than OpenBLAS | than "
      "oneDNN | than the faster one | must | holds |\n"
      "|---|---:|---:|---|---|---|---|---|---|\n");
  for (const Case& c : cases) {
    if (c.name.find(only) != std::string::npos) measure(c, rounds, blas, dnnl);
  }
}
