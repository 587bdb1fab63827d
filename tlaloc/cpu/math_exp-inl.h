// exp, log and their relatives. Coefficients without a source are minimax fits of ours (Remez's
// algorithm in 50 digits).
#if defined(TLALOC_CPU_MATH_EXP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_MATH_EXP_INL_H
#undef TLALOC_CPU_MATH_EXP_INL_H
#else
#define TLALOC_CPU_MATH_EXP_INL_H
#endif

#include <limits>
#include <numbers>

#include "tlaloc/cpu/math_pieces-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

// log 2 in two parts, the first with so few bits that a product with an exponent is exact.
inline constexpr double kLog2High64 = 6.93147180369123816490e-01,
                        kLog2Low64 = 1.90821492927058770002e-10;
inline constexpr double kLog2High32 = 0.693359375, kLog2Low32 = -2.12194440e-4;

/// log(1 + f) + n log 2 for sqrt(1/2) <= 1 + f <= sqrt(2).
template <class M>
HWY_INLINE Real<M> log_sum(const M& m, const Real<M>& f, const Real<M>& n) {
  if constexpr (M::kWide) {
    // log(1 + f) = 2 atanh(s), s = f / (2 + f); 2 s = f - s f, and s f = square - s square: what
    // is taken from f keeps its bits.
    const auto s = m.div(f, m.add(f, m.real(2)));
    const auto z = m.mul(s, s);
    const auto series = polynomial(m, z, 0.14795998299149961, 0.15314046087488806,
                                   0.181835644790419887, 0.22222198570844837, 0.285714287424013328,
                                   0.399999999994146895, 0.666666666666673438);
    const auto tail = m.mul(z, series);  // 2 atanh(s) / s - 2
    const auto square = m.mul(m.mul(f, f), m.real(0.5));
    auto low = m.mul(s, m.add(square, tail));
    low = m.fma(n, m.real(kLog2Low64), low);
    const auto high = m.sub(f, m.sub(square, low));
    return m.fma(n, m.real(kLog2High64), high);
  }
  // Minimax coefficients of Cephes' logf.
  const auto z = m.mul(f, f);
  auto y = polynomial(m, f, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1,
                      1.4249322787e-1, -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1,
                      3.3333331174e-1);
  y = m.mul(y, m.mul(f, z));
  y = m.fma(n, m.real(kLog2Low32), y);
  y = m.fma(z, m.real(-0.5), y);
  return m.fma(n, m.real(kLog2High32), m.add(f, y));
}

/// r = log(x) with its values at and beyond the ends: `x` is `least` where log is -infinity.
template <class M>
HWY_INLINE Real<M> log_ends(const M& m, const Real<M>& x, double least, Real<M> r) {
  r = m.choose(m.not_lt(x, m.real(std::numeric_limits<double>::infinity())), x, r);
  r = m.choose(m.eq(x, m.real(least)), m.real(-std::numeric_limits<double>::infinity()), r);
  return m.choose(m.lt(x, m.real(least)), m.real(std::numeric_limits<double>::quiet_NaN()), r);
}

/// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2.
template <class M>
HWY_INLINE Real<M> exp_series(const M& m, const Real<M>& r) {
  if constexpr (M::kWide) {
    return polynomial(m, r, 2.09244627068129378e-9, 2.51090233881878525e-8, 2.75572426931167296e-7,
                      2.75572442485772712e-6, 2.48015873606464754e-5, 1.98412698860860667e-4,
                      1.38888888888667755e-3, 8.33333333332164779e-3, 4.16666666666667016e-2,
                      0.166666666666666766, 0.5);
  }
  return polynomial(m, r, 1.991424081e-4, 1.394096901e-3, 8.333272904e-3, 4.166635532e-2,
                    0.1666666682, 0.5000000046);
}

/// x = n log 2 + rest with |rest| <= log(2) / 2.
template <class M>
struct OfLog2 {
  Real<M> rest;
  Whole<M> n;
};
template <class M>
HWY_INLINE OfLog2<M> of_log2(const M& m, const Real<M>& x) {
  // Beyond these exp is 0 or infinite anyway; a NaN stays one.
  const auto inside = at_most(m, at_least(m, x, real(m, -746, -104)), real(m, 711, 90));
  const auto n = nearest(m, inside, m.real(std::numbers::log2e));
  const auto minus = m.neg(n.real);
  const auto r = m.fma(minus, real(m, kLog2High64, kLog2High32), inside);
  return {m.fma(minus, real(m, kLog2Low64, kLog2Low32), r), n.whole};
}
/// 2^n exp(r)
template <class M>
HWY_INLINE Real<M> exp_of(const M& m, const Real<M>& r, const Whole<M>& n) {
  return scaled(m, m.add(m.fma(m.mul(r, r), exp_series(m, r), r), m.real(1)), n);
}
template <class M>
HWY_INLINE Real<M> exp(const M& m, const Real<M>& x) {
  const auto parts = of_log2(m, x);
  return exp_of(m, parts.rest, parts.n);
}
/// exp(x + low) for a `low` that is far smaller than x.
template <class M>
HWY_INLINE Real<M> exp_of_sum(const M& m, const Real<M>& x, const Real<M>& low) {
  const auto parts = of_log2(m, x);
  return exp_of(m, m.add(parts.rest, low), parts.n);
}
/// exp(x) / 2
template <class M>
HWY_INLINE Real<M> half_exp(const M& m, const Real<M>& x) {
  const auto parts = of_log2(m, x);
  return exp_of(m, parts.rest, m.plus(parts.n, m.whole(-1)));
}

template <class M>
HWY_INLINE Real<M> expm1(const M& m, const Real<M>& x) {
  const auto inside = at_most(m, at_least(m, x, real(m, -40, -20)), real(m, 710, 89));
  const auto n = nearest(m, inside, m.real(std::numbers::log2e));
  const auto minus = m.neg(n.real), low = real(m, kLog2Low64, kLog2Low32);
  const auto high = m.fma(minus, real(m, kLog2High64, kLog2High32), inside);
  const auto r = m.fma(minus, low, high);
  const auto lost = m.fma(minus, low, m.sub(high, r));
  const auto tail = m.fma(m.mul(r, r), exp_series(m, r), lost);
  // exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), by halves: 2^n may be too large.
  const auto half = power_of_two(m, m.plus(n.whole, m.whole(-1)));
  const auto most = m.fma(half, r, m.sub(half, m.real(0.5)));
  const auto sum = m.fma(half, tail, most);
  const auto near = m.eq(n.real, m.real(0));
  return m.copysign(m.choose(near, m.add(r, tail), m.add(sum, sum)), x);
}

template <class M>
HWY_INLINE Real<M> log(const M& m, const Real<M>& x) {
  const double least =
      M::kWide ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
  const auto tiny = m.lt(x, m.real(least));
  const auto parts = split(m, m.choose(tiny, m.mul(x, real(m, 0x1p54, 0x1p25)), x));
  auto n = m.real_of(parts.exponent);
  n = m.choose(tiny, m.sub(n, real(m, 54, 25)), n);
  return log_ends(m, x, 0, log_sum(m, m.sub(parts.mantissa, m.real(1)), n));
}

template <class M>
HWY_INLINE Real<M> log1p(const M& m, const Real<M>& x) {
  const auto one = m.real(1);
  const auto sum = m.add(x, one);
  // What the sum lost: at most one, so that it does not count where the sum is huge.
  const auto lost = m.sub(at_most(m, x, one), m.sub(sum, at_least(m, x, one)));
  const auto parts = split(m, sum);
  const auto down =
      m.smaller(parts.exponent_bits, whole(m, std::int64_t{64} << 52, std::int64_t{64} << 23));
  const auto factor = m.from_pattern(m.minus(m.pattern(one), down));
  auto f = m.fma(lost, factor, m.sub(parts.mantissa, one));
  const auto n = m.real_of(parts.exponent);
  f = m.choose(m.eq(n, m.real(0)), x, f);
  const auto r = log_ends(m, x, -1, log_sum(m, f, n));
  return m.choose(m.eq(x, m.real(0)), x, r);
}

template <class M>
HWY_INLINE Real<M> logistic(const M& m, const Real<M>& x) {
  const auto one = m.real(1);
  return m.div(one, m.add(one, exp(m, m.neg(x))));
}

template <class M>
HWY_INLINE Real<M> tanh(const M& m, const Real<M>& x) {
  // Near 0 an odd function of x; Cephes' coefficients.
  const auto z = m.mul(x, x);
  Real<M> near;
  if constexpr (M::kWide) {
    const auto p = polynomial(m, z, -9.64399179425052238628e-1, -9.92877231001918586564e1,
                              -1.61468768441708447952e3);
    const auto q = polynomial(m, z, 1.0, 1.12811678491632931402e2, 2.23548839060100448583e3,
                              4.84406305325125486048e3);
    near = m.div(p, q);
  } else {
    near = polynomial(m, z, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                      1.33314422036e-1, -3.33332819422e-1);
  }
  near = m.fma(m.mul(near, z), x, x);
  const auto size = m.abs(x), one = m.real(1);
  const auto e = exp(m, m.add(size, size));
  const auto far = m.sub(one, m.div(m.real(2), m.add(e, one)));
  return m.copysign(m.choose(m.lt(size, m.real(0.625)), near, far), x);
}

template <class M>
HWY_INLINE Real<M> sinh(const M& m, const Real<M>& x) {
  const auto z = m.mul(x, x);
  const auto p =
      M::kWide ? polynomial(m, z, 7.75874966397803762e-13, 1.60572597374775135e-10,
                            2.50521231371615013e-8, 2.75573191570689066e-6, 1.98412698414318824e-4,
                            8.33333333333314773e-3, 0.166666666666666674)
               : polynomial(m, z, 2.816952734e-6, 1.983615945e-4, 8.333350061e-3, 0.166666665);
  const auto near = m.fma(m.mul(p, z), x, x);
  const auto size = m.abs(x);
  const auto half = half_exp(m, size);
  const auto far = m.sub(half, m.div(m.real(0.25), half));
  return m.copysign(m.choose(m.lt(size, m.real(1)), near, far), x);
}

template <class M>
HWY_INLINE Real<M> cosh(const M& m, const Real<M>& x) {
  const auto half = half_exp(m, m.abs(x));
  return m.add(half, m.div(m.real(0.25), half));
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TLALOC_CPU_MATH_EXP_INL_H
