// x^y. Coefficients are minimax fits (Remez's algorithm in 50 digits).
#if defined(TLALOC_CPU_MATH_POWER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_MATH_POWER_INL_H
#undef TLALOC_CPU_MATH_POWER_INL_H
#else
#define TLALOC_CPU_MATH_POWER_INL_H
#endif

#include <limits>

#include "tlaloc/cpu/math_exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

/// 2^x in f64 with the errors of an f32, for results that become one.
template <class M>
HWY_INLINE Real<M> short_exp2(const M& m, const Real<M>& x) {
  const auto inside = at_most(m, at_least(m, x, m.real(-200)), m.real(200));
  const auto n = nearest(m, inside, m.real(1));
  const auto p = polynomial(m, m.sub(inside, n.real), 1.53458166823171982e-4,
                            1.33999299494629626e-3, 9.61848890214580331e-3, 5.55032878111016491e-2,
                            0.24022646892018992, 0.693147205736157253, 1.00000000055362796);
  return m.mul(p, power_of_two(m, n.whole));
}

/// x^y for finite x > 0, where y is not a NaN: in f64, for results that become f32.
template <class M>
HWY_INLINE Real<M> pow_core32(const M& m, const Real<M>& x, const Real<M>& y) {
  const auto parts = split(m, x);
  const auto f = m.sub(parts.mantissa, m.real(1));
  const auto s = m.div(f, m.add(f, m.real(2)));
  const auto series = polynomial(m, m.mul(s, s), 0.340727716881400673, 0.411672852891034598,
                                 0.577083582589151592, 0.961796673355405572, 2.88539008179007412);
  const auto log2 = m.fma(s, series, m.real_of(parts.exponent));
  // So large that 0 y is still 0.
  const auto finite = at_most(m, at_least(m, y, m.real(-1e40)), m.real(1e40));
  return short_exp2(m, m.mul(finite, log2));
}

/// The same in f64, the logarithm and its product with y by two numbers each.
template <class M>
HWY_INLINE Real<M> pow_core64(const M& m, const Real<M>& x, const Real<M>& y) {
  const auto tiny = m.lt(x, m.real(std::numeric_limits<double>::min()));
  const auto parts = split(m, m.choose(tiny, m.mul(x, m.real(0x1p54)), x));
  auto n = m.real_of(parts.exponent);
  n = m.choose(tiny, m.sub(n, m.real(54)), n);
  // log(m) = 2 atanh(s) = 2/3 s (3 + s^2 + s^4 (3/5 + ...)), s = f / d = (m - 1) / (m + 1).
  const auto one = m.real(1), three = m.real(3);
  const auto f = m.sub(parts.mantissa, one), d = m.add(parts.mantissa, one);
  const auto inverse = m.div(one, d);
  const auto s = m.mul(f, inverse);
  const auto s1 = upper(m, s), d1 = upper(m, d);
  const auto d2 = m.sub(parts.mantissa, m.sub(d1, one));
  const auto s2 = m.mul(m.sub(m.sub(f, m.mul(s1, d1)), m.mul(s1, d2)), inverse);
  const auto z = m.mul(s, s);
  auto rest = polynomial(m, z, 0.165198742515391388, 0.156343693634006453, 0.1765300990375214,
                         0.199998606798916674, 0.23076925129303676, 0.272727272538856436,
                         0.333333333334358237, 0.428571428571425634, 0.600000000000000003);
  rest = m.mul(m.mul(z, z), rest);
  rest = m.fma(s2, m.add(s1, s), rest);
  const auto z1 = m.mul(s1, s1);
  const auto t1 = upper(m, m.add(m.add(three, z1), rest));
  const auto t2 = m.sub(rest, m.sub(m.sub(t1, three), z1));
  const auto u = m.mul(s1, t1);
  const auto v = m.fma(s2, t1, m.mul(t2, s));
  const auto p1 = upper(m, m.add(u, v));
  const auto p2 = m.sub(v, m.sub(p1, u));
  // Times 2/3 / log 2, in two parts.
  const auto w1 = m.mul(m.real(0x1.ec709d8p-1), p1);
  const auto w2 = m.fma(m.real(0x1.ec709dc3a03fdp-1), p2, m.mul(m.real(0x1.0e80ff5d27f05p-27), p1));
  const auto log1 = upper(m, m.add(m.add(w1, w2), n));
  const auto log2 = m.sub(w2, m.sub(m.sub(log1, n), w1));
  // Beyond 2^70 any y gives 0, 1 or infinity.
  const auto finite = at_most(m, at_least(m, y, m.real(-0x1p70)), m.real(0x1p70));
  const auto y1 = upper(m, finite);
  auto high = m.mul(y1, log1);
  auto low = m.fma(m.sub(finite, y1), log1, m.mul(finite, log2));
  const auto sum = m.add(high, low);
  const auto outside = m.gt(m.abs(sum), m.real(1100));
  high = m.choose(outside, m.copysign(m.real(1100), sum), high);
  low = m.choose(outside, m.real(0), low);
  // 2^(high + low): with an integer taken out, times log 2, as exp.
  const auto whole = nearest(m, m.add(high, low), one);
  high = m.sub(high, whole.real);
  const auto q1 = upper(m, m.add(high, low));
  const auto q2 = m.sub(low, m.sub(q1, high));
  const auto r1 = m.mul(q1, m.real(0x1.62e42f8p-1));
  const auto r2 = m.fma(q2, m.real(0x1.62e42fefa39efp-1), m.mul(q1, m.real(0x1.be8e7bcd5e4f2p-27)));
  const auto r = m.add(r1, r2);
  const auto lost = m.sub(r2, m.sub(r, r1));
  const auto tail = m.fma(m.mul(r, r), exp_series(m, r), m.fma(r, lost, lost));
  return scaled(m, m.add(one, m.add(r, tail)), whole.whole);
}

template <class M>
HWY_INLINE Real<M> pow(const M& m, const Real<M>& x, const Real<M>& y) {
  const auto size = m.abs(x), zero = m.real(0), one = m.real(1);
  const auto infinity = m.real(std::numeric_limits<double>::infinity());
  const auto nan = m.real(std::numeric_limits<double>::quiet_NaN());
  Real<M> r;
  if constexpr (M::kWide) {
    r = pow_core64(m, size, y);
  } else {
    r = m.narrow(pow_core32(m.widened(), m.widen(size), m.widen(y)));
  }
  // Of 0 and of infinities.
  const auto none = m.eq(size, zero), all = m.eq(size, infinity);
  const auto down = m.lt(y, zero);
  const auto end = m.choose(m.one_of(all, down), infinity, zero);
  r = m.choose(m.any(none, all), end, r);
  // Of negative numbers: odd powers are negative, and what is no integer has no power.
  const auto half = m.mul(y, m.real(0.5));
  const auto whole = m.eq(m.floor(y), y);
  const auto odd = m.both(whole, m.ne(m.floor(half), half));
  r = m.choose(odd, m.copysign(r, x), r);
  const auto below = m.both(m.lt(x, zero), m.lt(size, infinity));
  r = m.choose(m.both(below, m.ne(m.floor(y), y)), nan, r);
  r = m.choose(m.unordered(x, y), nan, r);
  return m.choose(m.any(m.eq(x, one), m.eq(y, zero)), one, r);
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TLALOC_CPU_MATH_POWER_INL_H
