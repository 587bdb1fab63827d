// Loops over arrays; results go to memory that is there already.
#include <algorithm>

#include "bench/programs/by_hand/programs.h"

namespace bench {
namespace {

float shift(std::int64_t i) { return 1e-3f * static_cast<float>(i % 100); }

void chain_loop(const float* __restrict x, const float* __restrict y, const float* __restrict z,
                float a, float* __restrict out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) out[i] = std::max(a * x[i] + y[i], 0.0f) * z[i] - 0.5f * x[i];
}

}  // namespace

void chain(std::int64_t count) {
  const auto n = static_cast<std::size_t>(count);
  const std::vector<float> x = uniform<float>(101, n), y = uniform<float>(102, n),
                           z = uniform<float>(103, n);
  std::vector<float> out(n);
  serve([&](std::int64_t i) {
    chain_loop(x.data(), y.data(), z.data(), shift(i), out.data(), n);
    asm volatile("" ::"r"(out.data()) : "memory");
    return static_cast<double>(out.back());
  });
}

void sum(std::int64_t count) {
  const auto n = static_cast<std::size_t>(count);
  const std::vector<float> x = uniform<float>(101, n), y = uniform<float>(102, n);
  serve([&](std::int64_t i) {
    const float a = shift(i);
    float total[32] = {};  // as many chains as hide an addition's latency
    std::size_t k = 0;
    for (; k + 32 <= n; k += 32)
      for (std::size_t l = 0; l < 32; ++l) total[l] += (x[k + l] - a) * y[k + l];
    for (; k < n; ++k) total[0] += (x[k] - a) * y[k];
    double all = 0;
    for (const float t : total) all += static_cast<double>(t);
    return all;
  });
}

}  // namespace bench
