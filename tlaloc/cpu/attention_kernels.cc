#include "tlaloc/cpu/attention_kernels.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/attention_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "tlaloc/cpu/math_functions-inl.h"
#include "tlaloc/cpu/math_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kScoreVector>;
using V = hn::Vec<D>;
constexpr std::int64_t kLanes = hn::MaxLanes(D());
constexpr VectorMath<D> kMath;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// All vectors of a row.
template <class F>
HWY_INLINE void each_vector(const ScoreBlock& b, const F& f) {
  for (std::int64_t c = 0; c < b.columns; c += kLanes) f(c);
}

void mask(const ScoreBlock& b, const Masking& m) {
  const D d;
  for (std::int64_t r = 0; r < b.rows; ++r) {
    float* HWY_RESTRICT s = b.scores + r * b.stride;
    const V scale = hn::Set(d, m.scale);
    if (m.soft_cap > 0) {
      const V cap = hn::Set(d, m.soft_cap);
      each_vector(b, [&](std::int64_t c) HWY_ATTR {
        const V bent = tanh(kMath, hn::Div(hn::Mul(hn::Load(d, s + c), scale), cap));
        if (m.tanh) hn::Store(bent, d, m.tanh + r * b.stride + c);
        hn::Store(hn::Mul(bent, cap), d, s + c);
      });
    } else {
      each_vector(b, [&](std::int64_t c)
                         HWY_ATTR { hn::Store(hn::Mul(hn::Load(d, s + c), scale), d, s + c); });
    }
    const std::int64_t low = std::clamp<std::int64_t>(m.low + r, 0, b.columns);
    const std::int64_t high = std::clamp<std::int64_t>(m.high + r, low, b.columns);
    std::fill(s, s + low, -kInfinity);
    std::fill(s + high, s + (b.columns + kScoreVector - 1) / kScoreVector * kScoreVector,
              -kInfinity);
    if (m.keep) {
      const bool* keep = m.keep + r * m.mask_row;
      for (std::int64_t c = low; c < high; ++c) s[c] = keep[c * m.mask_column] ? s[c] : -kInfinity;
    } else if (m.bias) {
      const float* bias = m.bias + r * m.mask_row;
      // What is hidden stays hidden, or becomes NaN: infinities of both signs have no sum.
      for (std::int64_t c = 0; c < b.columns; ++c) s[c] += bias[c * m.mask_column];
    }
  }
}

void softmax(const ScoreBlock& b, float* max, float* sums, float* factors) {
  const D d;
  for (std::int64_t r = 0; r < b.rows; ++r) {
    float* HWY_RESTRICT s = b.scores + r * b.stride;
    V best = hn::Set(d, max[r]);
    each_vector(b, [&](std::int64_t c) HWY_ATTR { best = hn::Max(best, hn::Load(d, s + c)); });
    const float now = hn::GetLane(hn::MaxOfLanes(d, best));
    const float shift = now == -kInfinity ? 0 : now;
    const V by = hn::Set(d, shift);
    V sum = hn::Zero(d);
    each_vector(b, [&](std::int64_t c) HWY_ATTR {
      const V e = exp(kMath, hn::Sub(hn::Load(d, s + c), by));
      hn::Store(e, d, s + c);
      sum = hn::Add(sum, e);
    });
    factors[r] = hn::GetLane(exp(kMath, hn::Set(d, max[r] - shift)));
    sums[r] = sums[r] * factors[r] + hn::GetLane(hn::SumOfLanes(d, sum));
    max[r] = now;
  }
}

void exp(const ScoreBlock& b, const float* shifts) {
  const D d;
  for (std::int64_t r = 0; r < b.rows; ++r) {
    float* HWY_RESTRICT s = b.scores + r * b.stride;
    const V by = hn::Set(d, shifts[r]);
    each_vector(b, [&](std::int64_t c) HWY_ATTR {
      hn::Store(exp(kMath, hn::Sub(hn::Load(d, s + c), by)), d, s + c);
    });
  }
}

void gradient(const ScoreBlock& b, const float* p, const float* delta, const Masking& m,
              float* masked, std::int64_t masked_row) {
  const D d;
  const V scale = hn::Set(d, m.scale), one = hn::Set(d, 1.0f);
  for (std::int64_t r = 0; r < b.rows; ++r) {
    float* HWY_RESTRICT g = b.scores + r * b.stride;
    const float* HWY_RESTRICT weights = p + r * b.stride;
    const V less = hn::Set(d, delta[r]);
    each_vector(b, [&](std::int64_t c) HWY_ATTR {
      hn::Store(hn::Mul(hn::Load(d, weights + c), hn::Sub(hn::Load(d, g + c), less)), d, g + c);
    });
    if (masked) std::copy_n(g, b.columns, masked + r * masked_row);
    each_vector(b, [&](std::int64_t c) HWY_ATTR {
      V x = hn::Load(d, g + c);
      if (m.tanh) {
        const V bent = hn::Load(d, m.tanh + r * b.stride + c);
        x = hn::Mul(x, hn::Sub(one, hn::Mul(bent, bent)));
      }
      hn::Store(hn::Mul(x, scale), d, g + c);
    });
  }
}

void multiply(float* x, std::int64_t rows, std::int64_t columns, std::int64_t row,
              const float* factors) {
  const D d;
  for (std::int64_t r = 0; r < rows; ++r, x += row) {
    if (factors[r] == 1) continue;
    const V by = hn::Set(d, factors[r]);
    std::int64_t c = 0;
    for (; c + kLanes <= columns; c += kLanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, x + c), by), d, x + c);
    }
    for (; c < columns; ++c) x[c] *= factors[r];
  }
}

void divide(float* x, std::int64_t rows, std::int64_t columns, std::int64_t row,
            const float* divisors) {
  const D d;
  for (std::int64_t r = 0; r < rows; ++r, x += row) {
    const V by = hn::Set(d, divisors[r]);
    std::int64_t c = 0;
    for (; c + kLanes <= columns; c += kLanes) {
      hn::StoreU(hn::Div(hn::LoadU(d, x + c), by), d, x + c);
    }
    for (; c < columns; ++c) x[c] /= divisors[r];
  }
}

float dot(const float* x, std::int64_t x_step, const float* y, std::int64_t y_step,
          std::int64_t n) {
  const D d;
  V sum = hn::Zero(d);
  std::int64_t i = 0;
  if (x_step == 1 && y_step == 1) {
    for (; i + kLanes <= n; i += kLanes) {
      sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
    }
  }
  float rest = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < n; ++i) rest += x[i * x_step] * y[i * y_step];
  return rest;
}

bool is_bounded(const float* x, std::int64_t step, std::int64_t n, float low) {
  const D d;
  constexpr float kHigh = std::numeric_limits<float>::max();
  auto inside = hn::Eq(hn::Zero(d), hn::Zero(d));
  std::int64_t i = 0;
  for (; step == 1 && i + kLanes <= n; i += kLanes) {
    const V v = hn::LoadU(d, x + i);
    inside = hn::And(inside, hn::And(hn::Ge(v, hn::Set(d, low)), hn::Le(v, hn::Set(d, kHigh))));
  }
  bool all = hn::AllTrue(d, inside);
  for (; i < n; ++i) all = all && x[i * step] >= low && x[i * step] <= kHigh;
  return all;
}

const AttentionKernels& kernels() {
  static constexpr AttentionKernels kernels{mask,     softmax, exp, gradient,
                                            multiply, divide,  dot, is_bounded};
  return kernels;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(kernels);
const AttentionKernels& attention_kernels() { return HWY_DYNAMIC_DISPATCH(kernels)(); }

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
