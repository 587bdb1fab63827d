#include "tlaloc/cpu/attention_kernels.h"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/attention_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<float, kScoreVector>;
using V = hn::Vec<D>;
constexpr std::int64_t kLanes = hn::MaxLanes(D());
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// x = n log 2 + r, exp(x) = 2^n exp(r); minimax coefficients of Cephes' expf.
HWY_INLINE V exp_of(V x) {
  const D d;
  const hn::RebindToSigned<D> whole;
  // Beyond these exp is 0 or infinite anyway.
  const V y = hn::Min(hn::Max(x, hn::Set(d, -104.0f)), hn::Set(d, 89.0f));
  const V magic = hn::Set(d, 0x1.8p23f);
  const V shifted = hn::MulAdd(y, hn::Set(d, 1.44269504088896341f), magic);
  const V n = hn::Sub(shifted, magic);
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), y);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  V p = hn::Set(d, 1.9875691500e-4f);
  for (float c :
       {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f}) {
    p = hn::MulAdd(p, r, hn::Set(d, c));
  }
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  const auto exponent = hn::Sub(hn::BitCast(whole, shifted), hn::BitCast(whole, magic));
  // Two factors: each is a normal number, and the last one rounds to a subnormal.
  const auto half = hn::ShiftRight<1>(exponent), rest = hn::Sub(exponent, half);
  auto power = [&](auto e) HWY_ATTR {
    return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(e, hn::Set(whole, 127))));
  };
  p = hn::Mul(hn::Mul(p, power(half)), power(rest));
  return hn::IfThenElse(hn::IsNaN(x), x, p);
}

/// Cephes' polynomial near 0, 1 - 2 / (exp(2 |x|) + 1) elsewhere.
HWY_INLINE V tanh_of(V x) {
  const D d;
  const V size = hn::Abs(x), z = hn::Mul(x, x);
  V near = hn::Set(d, -5.70498872745e-3f);
  for (float c : {2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f, -3.33332819422e-1f}) {
    near = hn::MulAdd(near, z, hn::Set(d, c));
  }
  near = hn::MulAdd(hn::Mul(near, z), x, x);
  const V one = hn::Set(d, 1.0f), e = exp_of(hn::Add(size, size));
  const V far = hn::Sub(one, hn::Div(hn::Set(d, 2.0f), hn::Add(e, one)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.625f)), near, far), x);
}

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
        const V bent = tanh_of(hn::Div(hn::Mul(hn::Load(d, s + c), scale), cap));
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
      const V e = exp_of(hn::Sub(hn::Load(d, s + c), by));
      hn::Store(e, d, s + c);
      sum = hn::Add(sum, e);
    });
    factors[r] = hn::GetLane(exp_of(hn::Set(d, max[r] - shift)));
    sums[r] = sums[r] * factors[r] + hn::GetLane(hn::SumOfLanes(d, sum));
    max[r] = now;
  }
}

void exp(const ScoreBlock& b, const float* shifts) {
  const D d;
  for (std::int64_t r = 0; r < b.rows; ++r) {
    float* HWY_RESTRICT s = b.scores + r * b.stride;
    const V by = hn::Set(d, shifts[r]);
    each_vector(b, [&](std::int64_t c)
                       HWY_ATTR { hn::Store(exp_of(hn::Sub(hn::Load(d, s + c), by)), d, s + c); });
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
