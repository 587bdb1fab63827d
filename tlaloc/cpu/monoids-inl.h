// Monoids of vectors, as the op table's rows combine numbers; for kernels, per kind of CPU.
#include <cstdint>
#include <limits>

#if defined(TLALOC_CPU_MONOIDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_MONOIDS_INL_H
#undef TLALOC_CPU_MONOIDS_INL_H
#else
#define TLALOC_CPU_MONOIDS_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// f(d, lane) for whole vectors, then one lane at a time.
template <class T, class F>
HWY_INLINE void each_lane(std::int64_t lanes, const F& f) {
  const hn::ScalableTag<T> d;
  const auto step = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t l = 0;
  for (; l + step <= lanes; l += step) f(d, l);
  for (; l < lanes; ++l) f(hn::CappedTag<T, 1>(), l);
}

struct Sum {
  template <class T>
  static constexpr T kStart = 0;
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Add(a, b);
  }
};
struct Product {
  template <class T>
  static constexpr T kStart = 1;
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    return hn::Mul(a, b);
  }
};
/// The first NaN, else the larger (smaller); of zeros the positive (negative) one.
template <bool kLargest>
struct Extreme {
  template <class T>
  static constexpr T kStart =
      kLargest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  template <class V>
  static HWY_INLINE V combine(V a, V b) {
    // Equal numbers differ in no bit but a zero's sign.
    const V equal = kLargest ? hn::And(a, b) : hn::Or(a, b);
    V r = hn::IfThenElse(kLargest ? hn::Gt(a, b) : hn::Lt(a, b), a, b);
    r = hn::IfThenElse(hn::Eq(a, b), equal, r);
    return hn::IfThenElse(hn::IsNaN(a), a, r);
  }
};

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
