// What one thread can do at most, by its processor time.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "bench/timing.h"

namespace bench {

inline volatile float sink;

/// Chains of multiply-adds in registers, as wide as the CPU has them: GFLOP/s.
__attribute__((target("avx512f"), noinline)) inline void chains_of_512(int n) {
  __m512 sums[12];
  for (auto& s : sums) s = _mm512_set1_ps(1e-3f);
  const __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(1e-4f);
  for (int i = 0; i < n; ++i) {
#pragma GCC unroll 12
    for (auto& s : sums) s = _mm512_fmadd_ps(s, x, y);
  }
  float total = 0;
  for (auto& s : sums) total += _mm512_cvtss_f32(s);
  sink = total;
}
__attribute__((target("avx2,fma"), noinline)) inline void chains_of_256(int n) {
  __m256 sums[12];
  for (auto& s : sums) s = _mm256_set1_ps(1e-3f);
  const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(1e-4f);
  for (int i = 0; i < n; ++i) {
#pragma GCC unroll 12
    for (auto& s : sums) s = _mm256_fmadd_ps(s, x, y);
  }
  float total = 0;
  for (auto& s : sums) total += _mm256_cvtss_f32(s);
  sink = total;
}
inline double peak() {
  constexpr int kCount = 200'000;
  const bool wide = __builtin_cpu_supports("avx512f");
  const double start = seconds();
  wide ? chains_of_512(kCount) : chains_of_256(kCount);
  return 12.0 * (wide ? 32 : 16) * kCount / (seconds() - start) / 1e9;
}

/// Four far-apart streams, which is what one core reads fastest by: GB/s.
__attribute__((target("avx2"), noinline)) inline double reading(const float* from,
                                                                std::int64_t count) {
  const std::int64_t apart = count / 4 / 16 * 16;
  __m256 sums[8] = {};
  const double start = seconds();
  for (std::int64_t i = 0; i + 16 <= apart; i += 16) {
    for (int k = 0; k < 8; ++k) {
      sums[k] = _mm256_xor_ps(sums[k], _mm256_loadu_ps(from + k / 2 * apart + i + k % 2 * 8));
    }
  }
  const double time = seconds() - start;
  for (int k = 1; k < 8; ++k) sums[0] = _mm256_xor_ps(sums[0], sums[k]);
  sink = _mm256_cvtss_f32(sums[0]);
  return static_cast<double>(4 * count) / time / 1e9;
}

}  // namespace bench
