// The error function. Coefficients are minimax fits (Remez's algorithm in 50 digits).
#if defined(TLALOC_CPU_MATH_ERF_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_MATH_ERF_INL_H
#undef TLALOC_CPU_MATH_ERF_INL_H
#else
#define TLALOC_CPU_MATH_ERF_INL_H
#endif

#include <numbers>

#include "tlaloc/cpu/math_power-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

/// erf(x) / x - 1 as a function of z = x^2, for |x| <= 1, or 0.92 for f32.
template <class M>
HWY_INLINE Real<M> erf_series(const M& m, const Real<M>& z) {
  if constexpr (M::kWide) {
    return polynomial(m, z, 5.94528925737588233e-11, -1.13656826245275968e-9,
                      1.46578842566791331e-8, -1.63500258942379705e-7, 1.64609728817931073e-6,
                      -1.49255935110154178e-5, 1.20553310370750034e-4, -8.54832697874712508e-4,
                      5.22397762478095477e-3, -2.68661706450729043e-2, 0.112837916709548575,
                      -0.376126389031837476, 0.128379167095512574);
  }
  return polynomial(m, z, -5.9858484e-4, 4.99271403e-3, -2.67667266e-2, 0.112818339, -0.376124972,
                    0.12837915);
}

/// erfc(x) for x >= 1/2.
template <class M>
HWY_INLINE Real<M> erfc_far64(const M& m, const Real<M>& x) {
  // Beyond this it is 0.
  const auto a = at_most(m, x, m.real(27.3)), two = m.real(2);
  // exp(-x^2); the square is exact in two parts.
  const auto h = upper(m, a);
  const auto low = m.neg(m.mul(m.sub(a, h), m.add(a, h)));
  const auto e = exp_of_sum(m, m.neg(m.mul(h, h)), low);
  // exp(x^2) erfc(x) = f(t), t = 2 / (2 + x).
  const auto d = m.add(two, a), t = m.div(two, d);
  // f(t) / t = 1 / (2 sqrt(pi)) + t q(t): q counts little where x is large.
  const auto q = horner(
      m, m.sub(t, m.real(0.4375)), 0.189759241779089859, 0.0765036395705150361,
      -0.337254566783799955, 0.0338592077204879682, 0.256163992863811787, -0.160757223181452395,
      -0.0694600598806374164, 0.159500983220667513, -0.0648937531555611346, -0.0775150720373486026,
      0.10692276817351897, -0.00539165668818139928, -0.0906396986086308681, 0.0574433929966796921,
      0.0568724792914744166, -0.0843201376525082001, -0.0290395307642018397, 0.105188266416926893,
      0.0205824088979761462, -0.144238432551255317, -0.0713366884197196053, 0.215500725129531693,
      0.433572211756880154, 0.429472650067751984);
  const auto p = m.fma(t, q, m.real(0.5 * std::numbers::inv_sqrtpi));
  const auto f = m.mul(t, p);
  // t is rounded, and so is that of x + s = 2 / t - 2; f' = 2 x f - 2 / sqrt(pi).
  const auto d_lost = m.sub(at_most(m, a, two), m.sub(d, at_least(m, a, two)));
  const auto t1 = upper(m, t), t2 = m.sub(t, t1), d1 = upper(m, d), d2 = m.sub(d, d1);
  auto rest = m.sub(m.sub(two, m.mul(t1, d1)), m.add(m.mul(t1, d2), m.mul(t2, d1)));
  rest = m.sub(m.sub(rest, m.mul(t2, d2)), m.mul(t, d_lost));
  const auto minus_s = m.mul(rest, m.mul(d, m.real(-0.5)));
  const auto slope = m.fma(m.add(a, a), f, m.real(-2 * std::numbers::inv_sqrtpi));
  return m.mul(e, m.fma(t, p, m.mul(minus_s, slope)));
}
/// The same for f32, computed in f64: few of its errors are left in the result, and subnormals
/// are rounded once.
template <class M>
HWY_INLINE Real<M> erfc_far32(const M& m, const Real<M>& x) {
  const auto d = m.widened();
  const auto a = at_most(d, m.widen(x), d.real(11));
  const auto e = short_exp2(d, d.mul(d.mul(a, a), d.real(-std::numbers::log2e)));
  const auto t = d.div(d.real(2), d.add(d.real(2), a));
  const auto p = polynomial(d, d.sub(t, d.real(0.4375)), -3.034904934e-2, -5.267233467e-2,
                            8.774770341e-2, 6.574146758e-2, -0.1349611543, -0.1344154973,
                            0.1842850647, 0.5278534786, 0.6191605261, 0.4699890768);
  return m.narrow(d.mul(e, d.mul(t, p)));
}

template <class M>
HWY_INLINE Real<M> erf(const M& m, const Real<M>& x) {
  const auto z = m.mul(x, x), size = m.abs(x), one = m.real(1);
  const auto near = m.fma(erf_series(m, z), x, x);
  Real<M> far;
  if constexpr (M::kWide) {
    far = m.sub(one, erfc_far64(m, size));
  } else {
    // 1 - exp(-x - x p(x)): the last digits of the exponent do not count.
    const auto a = at_most(m, size, m.real(4));
    const auto p = polynomial(m, a, 1.15223074e-5, -3.25652881e-4, 3.65376482e-3, -2.37853487e-2,
                              0.106263148, 0.635135911, 0.12865216);
    far = m.sub(one, exp(m, m.neg(m.fma(a, p, a))));
  }
  return m.copysign(m.choose(m.lt(size, real(m, 1, 0.92)), near, far), x);
}

template <class M>
HWY_INLINE Real<M> erfc(const M& m, const Real<M>& x) {
  const auto z = m.mul(x, x), size = m.abs(x);
  const auto near = m.sub(m.real(1), m.fma(erf_series(m, z), x, x));
  Real<M> rest;
  if constexpr (M::kWide) {
    rest = erfc_far64(m, size);
  } else {
    rest = erfc_far32(m, size);
  }
  const auto far = m.choose(m.lt(x, m.real(0)), m.sub(m.real(2), rest), rest);
  return m.choose(m.lt(size, m.real(0.5)), near, far);
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TLALOC_CPU_MATH_ERF_INL_H
