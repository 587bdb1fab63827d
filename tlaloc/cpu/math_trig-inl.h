// Circular functions and their inverses. Coefficients are minimax fits (Remez's algorithm in 50
// digits).
#if defined(TLALOC_CPU_MATH_TRIG_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_MATH_TRIG_INL_H
#undef TLALOC_CPU_MATH_TRIG_INL_H
#else
#define TLALOC_CPU_MATH_TRIG_INL_H
#endif

#include <limits>
#include <numbers>

#include "tlaloc/cpu/math_pieces-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

// pi/2 in parts of 33 bits: products with n < 2^20 are exact.
inline constexpr double kHalfPi1 = 0x1.921fb544p+0, kHalfPi2 = 0x1.0b4611a6p-34,
                        kHalfPi3 = 0x1.3198a2ep-69, kHalfPi4 = 0x1.b839a252049c1p-104;
/// The same for n < 2^22; the rest need not be exact where x is an f32.
inline constexpr double kShortHalfPi1 = 0x1.921fb544p+0, kShortHalfPi2 = 0x1.0b4611a626331p-34;

inline constexpr double kInverseHalfPi = 0x1.45f306dc9c883p-1;
/// Arguments up to which the functions are computed here.
inline constexpr double kLimit64 = 0x1p20, kLimit32 = 0x1p22;

/// Where n is 0, and where it is 1 or -1, however products are rounded: up to nearly pi/4, and from
/// a little beyond it to nearly 3 pi/4.
inline constexpr double kFirst = 0.785398, kSecondFrom = 0.785399, kSecond = 2.356194;

/// sin and cos of x - n pi/2, which is within pi/4; n modulo 4.
template <class M>
struct Wave {
  Real<M> sine, cosine;
  Whole<M> quadrant;
};
/// x - n pi/2 = value - rest.
template <class M>
struct Reduced64 {
  Real<M> value, rest;
  Whole<M> quadrant;
};
template <class M>
HWY_INLINE Reduced64<M> reduce64(const M& m, const Real<M>& x, const Nearest<M>& n) {
  // Each difference loses something, and that is known.
  const auto a = m.fma(m.neg(n.real), m.real(kHalfPi1), x);
  const auto second = m.mul(n.real, m.real(kHalfPi2)), third = m.mul(n.real, m.real(kHalfPi3));
  const auto b = m.sub(a, second), r = m.sub(b, third);
  const auto lost = m.add(m.sub(second, m.sub(a, b)), m.sub(third, m.sub(b, r)));
  return {r, m.fma(n.real, m.real(kHalfPi4), lost), n.whole};
}
template <class M>
HWY_INLINE Wave<M> wave64(const M& m, const Reduced64<M>& x) {
  const auto &r = x.value, &rest = x.rest;
  const auto z = m.mul(r, r), half = m.mul(z, m.real(0.5)), one = m.real(1);
  const auto s =
      polynomial(m, z, -1.58961955220841358e-10, 2.50507471910574929e-8, -2.75573136179408558e-6,
                 1.98412698295803974e-4, -8.33333333332210849e-3, 0.166666666666666307);
  const auto c =
      polynomial(m, z, -1.13585143834870032e-11, 2.08757004251063715e-9, -2.75573141763099473e-7,
                 2.48015872888416514e-5, -1.38888888888730408e-3, 4.16666666666665928e-2);
  // cos(r - rest) = 1 - z/2 + rest r + z^2 c, with what 1 - z/2 lost; and sin(r - rest) =
  // r - rest cos(r) - r z s, where a zero keeps its sign: all that is taken from it is +0.
  const auto most = m.sub(one, half);
  const auto more = m.fma(r, rest, m.sub(m.sub(one, most), half));
  return {m.sub(r, m.fma(m.mul(r, z), s, m.mul(rest, most))),
          m.add(most, m.fma(m.mul(z, z), c, more)), x.quadrant};
}
/// x - n pi/2 in f64 for an x that was an f32: enough bits are left next to multiples of pi/2.
template <class M>
struct Reduced {
  Real<M> rest;
  Whole<M> quadrant;
};
template <class M>
HWY_INLINE Reduced<M> reduce32(const M& m, const Real<M>& x) {
  const auto n = nearest(m, x, m.real(kInverseHalfPi));
  const auto r = m.fma(m.neg(n.real), m.real(kShortHalfPi1), x);
  return {m.fma(m.neg(n.real), m.real(kShortHalfPi2), r), n.whole};
}
/// Few terms: for results that are f32.
template <class M>
HWY_INLINE Wave<M> wave32(const M& m, const Real<M>& r, const Whole<M>& quadrant) {
  const auto z = m.mul(r, r);
  const auto s = polynomial(m, z, -1.951522006e-4, 8.332160314e-3, -0.166666546);
  const auto c = polynomial(m, z, 2.443303044e-5, -1.388731508e-3, 4.166664566e-2);
  return {m.fma(m.mul(r, z), s, r), m.fma(m.mul(z, z), c, m.fma(z, m.real(-0.5), m.real(1))),
          quadrant};
}

/// asin(s) / s - 1 over z = s^2, for s <= 1/2.
template <class M>
HWY_INLINE Real<M> asin_series(const M& m, const Real<M>& z) {
  if constexpr (M::kWide) {
    return polynomial(m, z, 3.26267574412762982e-2, -2.09959862775663221e-2, 2.17052078862268425e-2,
                      3.70735588194592292e-3, 1.07799950659507325e-2, 1.13989593954282706e-2,
                      1.39808146467239411e-2, 1.73516125164954973e-2, 2.23722149590504517e-2,
                      3.03819427088246706e-2, 4.46428571745893299e-2, 7.49999999997082502e-2,
                      0.166666666666667603);
  }
  return polynomial(m, z, 3.751618516e-2, 1.443881664e-2, 3.180765587e-2, 4.451696351e-2,
                    7.500504136e-2, 0.1666665999);
}
/// asin(|x|) is s + p for |x| <= 1/2, else pi/2 - 2 (s + p).
template <class M>
struct Arc {
  Flags<M> beyond_half;
  Real<M> s, p;
};
template <class M>
HWY_INLINE Arc<M> arc(const M& m, const Real<M>& x) {
  const auto a = m.abs(x), half = m.real(0.5);
  const auto beyond = m.gt(a, half);
  const auto rest = m.fma(m.neg(a), half, half);  // exact: (1 - a) / 2
  const auto z = m.choose(beyond, rest, m.mul(a, a));
  const auto s = m.choose(beyond, m.sqrt(rest), a);
  return {beyond, s, m.mul(m.mul(s, z), asin_series(m, z))};
}

// Constants as a number and what it lost.
template <class M>
struct Pair {
  Real<M> high, low;
};
template <class M>
HWY_INLINE Pair<M> half_pi(const M& m) {
  return {m.real(0x1.921fb54442d18p+0), real(m, 0x1.1a62633145c07p-54, -4.371138828673793e-08)};
}
template <class M>
HWY_INLINE Pair<M> whole_pi(const M& m) {
  return {m.real(0x1.921fb54442d18p+1), real(m, 0x1.1a62633145c07p-53, -8.742277657347586e-08)};
}
template <class M>
HWY_INLINE Real<M> minus(const M& m, const Pair<M>& a, const Real<M>& b) {
  return m.sub(a.high, m.sub(b, a.low));
}
/// a - b - c for a small c.
template <class M>
HWY_INLINE Real<M> minus(const M& m, const Pair<M>& a, const Real<M>& b, const Real<M>& c) {
  return m.sub(m.sub(a.high, b), m.sub(c, a.low));
}

/// atan(num / den) for 0 <= num and 0 < den.
template <class M>
HWY_INLINE Real<M> atan_of_quotient(const M& m, const Real<M>& num, const Real<M>& den,
                                    bool may_exceed_1) {
  const auto zero = m.real(0);
  // Near 1: pi/4 + atan((num - den) / (num + den)); beyond: pi/2 - atan(den / num).
  const auto near_one = m.gt(num, m.mul(den, m.real(0.41421356237309503)));
  auto n = m.choose(near_one, m.sub(num, den), num);
  auto d = m.choose(near_one, m.add(num, den), den);
  auto high = m.choose(near_one, m.real(std::numbers::pi / 4), zero);
  auto low = m.choose(near_one, real(m, 0x1.1a62633145c07p-55, -2.1855694143368964e-08), zero);
  if (may_exceed_1) {
    const auto large = m.gt(num, m.mul(den, m.real(2.414213562373095)));
    const auto right = half_pi(m);
    n = m.choose(large, m.neg(den), n);
    d = m.choose(large, num, d);
    high = m.choose(large, right.high, high);
    low = m.choose(large, right.low, low);
  }
  const auto t = m.div(n, d), z = m.mul(t, t);
  const auto p =
      M::kWide ? polynomial(m, z, 1.51925132369796427e-2, -3.34712631662917673e-2,
                            4.50338432655166474e-2, -5.21835624228445166e-2, 5.87701302477423239e-2,
                            -6.66622571483627665e-2, 7.69228267699178133e-2,
                            -9.09090814036802596e-2, 0.11111111088045368, -0.142857142853855736,
                            0.199999999999976469, -0.333333333333333275)
               : polynomial(m, z, -6.077857138e-2, 0.1059367583, -0.1424351551, 0.1999847062,
                            -0.3333331518);
  return m.add(high, m.add(t, m.fma(m.mul(t, z), p, low)));
}

enum class Circular : std::uint8_t { sin, cos, tan };

/// The function of x, of which `v` is.
template <Circular kFunction, class M>
HWY_INLINE Real<M> turned(const M& m, const Wave<M>& v) {
  const auto& n = v.quadrant;
  const auto odd = m.has_bit(n, 1);
  if constexpr (kFunction == Circular::tan) {
    const auto q = m.div(m.choose(odd, v.cosine, v.sine), m.choose(odd, v.sine, v.cosine));
    return m.choose(odd, m.neg(q), q);
  } else if constexpr (kFunction == Circular::sin) {
    // The signs are + + - -.
    return m.turned_by_bit_1(m.choose(odd, v.cosine, v.sine), n);
  } else {
    // The signs are + - - +.
    return m.turned_by_bit_1(m.choose(odd, v.sine, v.cosine), m.plus(n, m.whole(1)));
  }
}

/// The function of x in f64, of any size. What waits for a number alone, as in a loop over time,
/// need not wait for all of its reduction where that is known to change little.
template <Circular kFunction, class M, class F>
HWY_INLINE Real<M> circular64(const M& m, const Real<M>& x, const F& library) {
  const auto first = [&]() HWY_ATTR {
    return turned<kFunction>(m, wave64(m, Reduced64<M>{x, m.real(0), m.whole(0)}));
  };
  const auto second = [&]() HWY_ATTR {
    const auto w = wave64(m, reduce64(m, x, {m.copysign(m.real(1), x), m.whole(1)}));
    if constexpr (kFunction == Circular::sin) return m.copysign(w.cosine, x);
    if constexpr (kFunction == Circular::tan) return m.neg(m.div(w.cosine, w.sine));
    return m.choose(m.lt(x, m.real(0)), w.sine, m.neg(w.sine));
  };
  const auto any = [&]() HWY_ATTR {
    const auto n = nearest(m, x, m.real(kInverseHalfPi));
    const auto y = turned<kFunction>(m, wave64(m, reduce64(m, x, n)));
    return m.with_far_lanes(x, y, kLimit64, library);
  };
  return m.sooner(x, 0, kFirst, first,
                  [&]() HWY_ATTR { return m.sooner(x, kSecondFrom, kSecond, second, any); });
}

/// `library` serves elements too large to be reduced here.
template <Circular kFunction, class M, class F>
HWY_INLINE Real<M> circular(const M& m, const Real<M>& x, const F& library) {
  if constexpr (M::kWide) {
    return circular64<kFunction>(m, x, library);
  } else {
    // An f32 is reduced in f64; what is then divided stays there.
    const auto w = m.widened();
    const auto r = reduce32(w, m.widen(x));
    Real<M> y;
    if constexpr (kFunction == Circular::tan) {
      y = m.narrow(turned<kFunction>(w, wave32(w, r.rest, r.quadrant)));
    } else {
      y = turned<kFunction>(m, wave32(m, m.narrow(r.rest), m.narrow_whole(r.quadrant)));
    }
    // The sign of a zero.
    if constexpr (kFunction != Circular::cos) y = m.choose(m.eq(x, m.real(0)), x, y);
    return m.with_far_lanes(x, y, kLimit32, library);
  }
}

template <class M>
HWY_INLINE Real<M> asin(const M& m, const Real<M>& x) {
  const auto a = arc(m, x);
  const auto far = minus(m, half_pi(m), m.add(a.s, a.s), m.add(a.p, a.p));
  return m.copysign(m.choose(a.beyond_half, far, m.add(a.s, a.p)), x);
}
template <class M>
HWY_INLINE Real<M> acos(const M& m, const Real<M>& x) {
  const auto a = arc(m, x);
  const auto s = m.add(a.s, a.s), p = m.add(a.p, a.p);
  const auto below = m.lt(x, m.real(0));
  const auto far = m.choose(below, minus(m, whole_pi(m), s, p), m.add(s, p));
  const auto near = minus(m, half_pi(m), x, m.copysign(a.p, x));
  return m.choose(a.beyond_half, far, near);
}
template <class M>
HWY_INLINE Real<M> atan(const M& m, const Real<M>& x) {
  return m.copysign(atan_of_quotient(m, m.abs(x), m.real(1), true), x);
}
template <class M>
HWY_INLINE Real<M> atan2(const M& m, const Real<M>& y, const Real<M>& x) {
  const auto a = m.abs(y), b = m.abs(x), zero = m.real(0), one = m.real(1);
  const auto infinity = m.real(std::numeric_limits<double>::infinity());
  const auto steep = m.gt(a, b);
  auto small = m.choose(steep, b, a), large = m.choose(steep, a, b);
  // 0 / 0 is 0 here, and infinity / infinity is 1.
  const auto both = m.eq(small, infinity);
  small = m.choose(both, one, small);
  large = m.choose(m.any(both, m.eq(large, zero)), one, large);
  // Sums of large numbers would overflow.
  const auto factor = m.choose(m.gt(large, real(m, 0x1p1000, 0x1p100)), m.real(0.25), one);
  auto r = atan_of_quotient(m, m.mul(small, factor), m.mul(large, factor), false);
  r = m.choose(steep, minus(m, half_pi(m), r), r);
  const auto left = m.lt(m.copysign(one, x), zero);
  r = m.choose(left, minus(m, whole_pi(m), r), r);
  const auto nan = m.real(std::numeric_limits<double>::quiet_NaN());
  return m.choose(m.unordered(x, y), nan, m.copysign(r, y));
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TLALOC_CPU_MATH_TRIG_INL_H
