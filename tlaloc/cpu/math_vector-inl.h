// The math of math_pieces-inl.h on Highway's vectors.
#if defined(TLALOC_CPU_MATH_VECTOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_MATH_VECTOR_INL_H
#undef TLALOC_CPU_MATH_VECTOR_INL_H
#else
#define TLALOC_CPU_MATH_VECTOR_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D_>
class VectorMath {
  using Wholes = hn::RebindToSigned<D_>;

 public:
  using D = D_;
  using T = hn::TFromD<D>;
  using Real = hn::Vec<D>;
  using Whole = hn::Vec<Wholes>;
  using Flags = hn::Mask<D>;
  static constexpr bool kWide = sizeof(T) == sizeof(double);

  HWY_INLINE Real real(double x) const { return hn::Set(D(), static_cast<T>(x)); }
  HWY_INLINE Whole whole(std::int64_t x) const {
    return hn::Set(Wholes(), static_cast<hn::TFromD<Wholes>>(x));
  }

  HWY_INLINE Real add(Real a, Real b) const { return hn::Add(a, b); }
  HWY_INLINE Real sub(Real a, Real b) const { return hn::Sub(a, b); }
  HWY_INLINE Real mul(Real a, Real b) const { return hn::Mul(a, b); }
  HWY_INLINE Real div(Real a, Real b) const { return hn::Div(a, b); }
  HWY_INLINE Real neg(Real a) const { return hn::Neg(a); }
  HWY_INLINE Real fma(Real a, Real b, Real c) const { return hn::MulAdd(a, b, c); }
  HWY_INLINE Real abs(Real a) const { return hn::Abs(a); }
  HWY_INLINE Real copysign(Real a, Real sign) const { return hn::CopySign(a, sign); }
  HWY_INLINE Real sqrt(Real a) const { return hn::Sqrt(a); }
  HWY_INLINE Real floor(Real a) const { return hn::Floor(a); }

  HWY_INLINE Flags lt(Real a, Real b) const { return hn::Lt(a, b); }
  HWY_INLINE Flags gt(Real a, Real b) const { return hn::Gt(a, b); }
  HWY_INLINE Flags ge(Real a, Real b) const { return hn::Ge(a, b); }
  HWY_INLINE Flags eq(Real a, Real b) const { return hn::Eq(a, b); }
  HWY_INLINE Flags ne(Real a, Real b) const { return hn::Ne(a, b); }
  HWY_INLINE Flags not_lt(Real a, Real b) const { return hn::Not(hn::Lt(a, b)); }
  HWY_INLINE Flags unordered(Real a, Real b) const { return hn::Or(hn::IsNaN(a), hn::IsNaN(b)); }
  HWY_INLINE Flags both(Flags p, Flags q) const { return hn::And(p, q); }
  HWY_INLINE Flags any(Flags p, Flags q) const { return hn::Or(p, q); }
  HWY_INLINE Flags one_of(Flags p, Flags q) const { return hn::Xor(p, q); }
  HWY_INLINE Real choose(Flags p, Real a, Real b) const { return hn::IfThenElse(p, a, b); }

  HWY_INLINE Whole pattern(Real x) const { return hn::BitCast(Wholes(), x); }
  HWY_INLINE Real from_pattern(Whole x) const { return hn::BitCast(D(), x); }
  HWY_INLINE Whole plus(Whole a, Whole b) const { return hn::Add(a, b); }
  HWY_INLINE Whole minus(Whole a, Whole b) const { return hn::Sub(a, b); }
  HWY_INLINE Whole smaller(Whole a, Whole b) const { return hn::Min(a, b); }
  HWY_INLINE Whole both_bits(Whole a, Whole b) const { return hn::And(a, b); }
  HWY_INLINE Whole halved(Whole n) const { return hn::ShiftRight<1>(n); }
  HWY_INLINE Whole to_exponent(Whole n) const { return hn::ShiftLeft<kWide ? 52 : 23>(n); }
  HWY_INLINE Whole from_exponent(Whole n) const { return hn::ShiftRight<kWide ? 52 : 23>(n); }
  HWY_INLINE Flags has_bit(Whole n, std::int64_t bit) const {
    return hn::RebindMask(D(), hn::TestBit(n, whole(bit)));
  }
  /// -x where n has bit 1, that of value 2.
  HWY_INLINE Real turned_by_bit_1(Real x, Whole n) const {
    return hn::Xor(x, BitCast(D(), hn::ShiftLeft<8 * sizeof(T) - 2>(hn::And(n, whole(2)))));
  }
  HWY_INLINE Real real_of(Whole n) const {
    if constexpr (kWide) {
      const Real magic = real(0x1.8p52);
      return sub(from_pattern(plus(n, pattern(magic))), magic);
    } else {
      return hn::ConvertTo(D(), n);
    }
  }

  /// As MathWriter has it: lanes are never alone here.
  template <class Near, class Any>
  HWY_INLINE Real sooner(Real, double, double, const Near&, const Any& any) const {
    return any();
  }
  /// y, and for the lanes where |x| reaches the limit what `scalar` gives.
  HWY_INLINE Real with_far_lanes(Real x, Real y, double limit, T (*scalar)(T)) const {
    const Flags far = ge(abs(x), real(limit));
    if (HWY_LIKELY(hn::AllFalse(D(), far))) return y;
    HWY_ALIGN T in[hn::MaxLanes(D())], out[hn::MaxLanes(D())];
    hn::Store(x, D(), in);
    hn::Store(y, D(), out);
    for (std::size_t i = 0; i < hn::Lanes(D()); ++i) {
      if (std::abs(in[i]) >= static_cast<T>(limit)) out[i] = scalar(in[i]);
    }
    return hn::Load(D(), out);
  }
};

/// On f32, no more at once than f64 fit into a vector, so that they can become f64.
class WideningMath : public VectorMath<hn::Rebind<float, hn::ScalableTag<double>>> {
  using Wider = hn::ScalableTag<double>;
  using Narrow = hn::Rebind<float, Wider>;

 public:
  using Widened = VectorMath<Wider>;
  HWY_INLINE Widened widened() const { return {}; }
  HWY_INLINE Widened::Real widen(Real x) const { return hn::PromoteTo(Wider(), x); }
  HWY_INLINE Real narrow(Widened::Real x) const {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    // There Highway saturates.
    HWY_ALIGN double wide[hn::MaxLanes(Wider())];
    HWY_ALIGN float r[hn::MaxLanes(Narrow())];
    hn::Store(x, Wider(), wide);
    for (std::size_t i = 0; i < hn::Lanes(Narrow()); ++i) r[i] = static_cast<float>(wide[i]);
    return hn::Load(Narrow(), r);
#else
    return hn::DemoteTo(Narrow(), x);
#endif
  }
  HWY_INLINE Whole narrow_whole(Widened::Whole n) const {
    const hn::RebindToSigned<Narrow> wholes;
#if HWY_TARGET == HWY_SCALAR
    return hn::Set(wholes, static_cast<std::int32_t>(hn::GetLane(n)));
#else
    const hn::Repartition<std::int32_t, Wider> halves;
    const auto x = hn::BitCast(halves, n);
    return hn::LowerHalf(wholes, hn::ConcatEven(halves, x, x));
#endif
  }
};

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // TLALOC_CPU_MATH_VECTOR_INL_H
