#include "tlaloc/cpu/ceilings.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/ceilings.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Multiply-adds in as many chains as hide their latency: 2 per cycle with 4 cycles each, and some
/// more. Returns how many elements were multiplied.
template <class T>
double multiply_add(int rounds, double* sum) {
  constexpr int kChains = 12;
  const hn::ScalableTag<T> d;
  hn::Vec<decltype(d)> chains[kChains];
  for (int k = 0; k < kChains; ++k) chains[k] = hn::Set(d, static_cast<T>(k));
  const auto scale = hn::Set(d, static_cast<T>(0.5)), step = hn::Set(d, static_cast<T>(1));
  for (int i = 0; i < rounds; ++i) {
    HWY_UNROLL(12) for (int k = 0; k < kChains; ++k) {
      chains[k] = hn::MulAdd(chains[k], scale, step);
    }
  }
  for (int k = 1; k < kChains; ++k) chains[0] = hn::Add(chains[0], chains[k]);
  *sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, chains[0])));
  return double(rounds) * kChains * double(hn::Lanes(d));
}
double multiply_add_f32(int rounds, double* sum) { return multiply_add<float>(rounds, sum); }
double multiply_add_f64(int rounds, double* sum) { return multiply_add<double>(rounds, sum); }

/// to[i] = from[i] + 1: one stream in, one out.
void stream(float* HWY_RESTRICT to, const float* HWY_RESTRICT from, std::size_t n) {
  const hn::ScalableTag<float> d;
  const auto one = hn::Set(d, 1.0F);
  for (std::size_t i = 0; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) {
    hn::Store(hn::Add(hn::Load(d, from + i), one), d, to + i);
  }
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {
namespace {

HWY_EXPORT(multiply_add_f32);
HWY_EXPORT(multiply_add_f64);
HWY_EXPORT(stream);

constexpr std::array<std::size_t, 4> kSizes{std::size_t{16} << 10, std::size_t{256} << 10,
                                            std::size_t{4} << 20, std::size_t{64} << 20};

/// The best of some tries: others use the machine too.
template <class F>
double best_rate(int tries, const F& work) {
  double best = 0;
  for (int i = 0; i < tries; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double done = work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::max(best, done / std::max(took.count(), 1e-9));
  }
  return best;
}

Ceilings measure() {
  Ceilings c;
  double sum = 0;
  constexpr int kRounds = 20'000;
  c.flops_f32 =
      2 * best_rate(8, [&] { return HWY_DYNAMIC_DISPATCH(multiply_add_f32)(kRounds, &sum); });
  c.flops_f64 =
      2 * best_rate(8, [&] { return HWY_DYNAMIC_DISPATCH(multiply_add_f64)(kRounds, &sum); });
  // The result is used, so that the loop stays.
  [[maybe_unused]] volatile double used = sum;
  const std::size_t half = kSizes.back() / 2 / sizeof(float);
  struct alignas(64) Line {
    float x[16];
  };
  const auto memory = std::make_unique<Line[]>(kSizes.back() / sizeof(Line));
  for (std::size_t k = 0; k < kSizes.size(); ++k) {
    float* from = memory[0].x;
    float* to = from + half;
    const std::size_t n = kSizes[k] / 2 / sizeof(float);
    const std::size_t repeats = std::max<std::size_t>(1, (std::size_t{8} << 20) / kSizes[k]);
    c.bandwidth[k] = best_rate(5, [&] {
      for (std::size_t i = 0; i < repeats; ++i) HWY_DYNAMIC_DISPATCH(stream)(to, from, n);
      return double(repeats) * double(kSizes[k]);
    });
  }
  return c;
}

}  // namespace

double Ceilings::bandwidth_of(double bytes) const {
  for (std::size_t k = 0; k + 1 < kSizes.size(); ++k) {
    if (bytes <= 2 * static_cast<double>(kSizes[k])) return bandwidth[k];
  }
  return bandwidth[kSizes.size() - 1];
}

const Ceilings& ceilings() {
  static const Ceilings measured = measure();
  return measured;
}

}  // namespace tlaloc::cpu
#endif
