// What functions on floating-point numbers are made of, over a math `M`: what one instruction
// does. MathWriter writes it as LLVM IR, VectorMath does it on Highway's vectors, so that compiled
// code and precompiled kernels have one definition of each function, and the same bits. Both round
// twice in `fma` where the processor has no fused multiply-add, so nothing may rely on one
// rounding.
//
// This file and the other math_*-inl.h are included once per kind of CPU, as Highway has it.
#if defined(TLALOC_CPU_MATH_PIECES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_MATH_PIECES_INL_H
#undef TLALOC_CPU_MATH_PIECES_INL_H
#else
#define TLALOC_CPU_MATH_PIECES_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

/// Numbers, integers of as many bits, and flags, by lanes.
template <class M>
using Real = typename M::Real;
template <class M>
using Whole = typename M::Whole;
template <class M>
using Flags = typename M::Flags;

/// Constants: the same for both types, or for f64 and for f32.
template <class M>
HWY_INLINE Real<M> real(const M& m, double x64, double x32) {
  return m.real(M::kWide ? x64 : x32);
}
template <class M>
HWY_INLINE Whole<M> whole(const M& m, std::int64_t x64, std::int64_t x32) {
  return m.whole(M::kWide ? x64 : x32);
}

/// The larger and the smaller one; `x` where it is a NaN.
template <class M>
HWY_INLINE Real<M> at_least(const M& m, const Real<M>& x, const Real<M>& low) {
  return m.choose(m.gt(low, x), low, x);
}
template <class M>
HWY_INLINE Real<M> at_most(const M& m, const Real<M>& x, const Real<M>& high) {
  return m.choose(m.lt(high, x), high, x);
}

/// Horner's scheme, the highest power first: each coefficient waits for all before it, and what
/// their terms lose counts least.
template <class M, class... C>
HWY_INLINE Real<M> horner(const M& m, const Real<M>& x, double highest, C... coefficients) {
  Real<M> r = m.real(highest);
  ((r = m.fma(r, x, m.real(coefficients))), ...);
  return r;
}
/// The highest power first. Short chains of what waits for each other: Horner's scheme over pairs
/// of coefficients or, where there are more, over fours of them. That takes one or two products
/// more than over single ones.
template <class M, class... C>
HWY_INLINE Real<M> polynomial(const M& m, const Real<M>& x, C... coefficients) {
  constexpr int kCount = sizeof...(C);
  const double c[] = {coefficients...};
  // Of the terms from x^from on, divided by x^from: as many as two, or four.
  const auto one = [&](int from) { return m.real(c[kCount - 1 - from]); };
  const auto pair = [&](int from) HWY_ATTR {
    return from + 1 < kCount ? m.fma(one(from + 1), x, one(from)) : one(from);
  };
  if constexpr (kCount <= 3) return horner(m, x, coefficients...);
  const auto x2 = m.mul(x, x);
  if constexpr (kCount <= 6) {
    constexpr int kLast = (kCount - 1) / 2 * 2;
    Real<M> r = pair(kLast);
    for (int k = kLast - 2; k >= 0; k -= 2) r = m.fma(r, x2, pair(k));
    return r;
  }
  const auto x4 = m.mul(x2, x2);
  const auto four = [&](int from) HWY_ATTR {
    return from + 2 < kCount ? m.fma(pair(from + 2), x2, pair(from)) : pair(from);
  };
  constexpr int kLast = (kCount - 1) / 4 * 4;
  Real<M> r = four(kLast);
  for (int k = kLast - 4; k >= 0; k -= 4) r = m.fma(r, x4, four(k));
  return r;
}

/// Only the upper half of the mantissa, so that products of two such are exact.
template <class M>
HWY_INLINE Real<M> upper(const M& m, const Real<M>& x) {
  const auto mask = whole(m, -(std::int64_t{1} << 27), -(1 << 12));
  return m.from_pattern(m.both_bits(m.pattern(x), mask));
}
/// 2^n for an integer n that is an exponent of normal numbers.
template <class M>
HWY_INLINE Real<M> power_of_two(const M& m, const Whole<M>& n) {
  return m.from_pattern(m.to_exponent(m.plus(n, whole(m, 1023, 127))));
}
/// x 2^n for any n from twice the least exponent to twice the greatest, rounded once.
template <class M>
HWY_INLINE Real<M> scaled(const M& m, const Real<M>& x, const Whole<M>& n) {
  // Two factors, each of which is a normal number; the last one rounds to a subnormal.
  const auto half = m.halved(n);
  const auto rest = m.minus(n, half);
  return m.mul(m.mul(x, power_of_two(m, half)), power_of_two(m, rest));
}

/// The nearest integer to a * b, as a float and as an integer; |a * b| is below 2^51, or 2^22 for
/// f32.
template <class M>
struct Nearest {
  Real<M> real;
  Whole<M> whole;
};
template <class M>
HWY_INLINE Nearest<M> nearest(const M& m, const Real<M>& a, const Real<M>& b) {
  // Adding 1.5 * 2^(mantissa bits) rounds to an integer, which the low bits then hold.
  const auto magic = real(m, 0x1.8p52, 0x1.8p23);
  const auto shifted = m.fma(a, b, magic);
  return {m.sub(shifted, magic), m.minus(m.pattern(shifted), m.pattern(magic))};
}

/// A positive number that is m 2^e, m from sqrt(1/2) to sqrt(2).
template <class M>
struct Split {
  Real<M> mantissa;
  Whole<M> exponent, exponent_bits;  ///< exponent_bits: e where exponents lie
};
template <class M>
HWY_INLINE Split<M> split(const M& m, const Real<M>& x) {
  // The exponent is counted from sqrt(1/2): the difference of the patterns carries over.
  const auto bits = m.pattern(x);
  const auto e = m.from_exponent(m.minus(bits, whole(m, 0x3fe6a09e667f3bcd, 0x3f3504f3)));
  const auto shifted = m.to_exponent(e);
  return {m.from_pattern(m.minus(bits, shifted)), e, shifted};
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TLALOC_CPU_MATH_PIECES_INL_H
