#include "tlaloc/cpu/window_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/window_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "tlaloc/cpu/monoids-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class M, class T>
void reduce(const T* HWY_RESTRICT x, const WindowElements& w, std::int64_t lanes,
            T* HWY_RESTRICT out) {
  each_lane<T>(lanes, [&](auto d, std::int64_t l) HWY_ATTR {
    auto r = hn::Set(d, M::template kStart<T>);
    for (const auto& run : w.runs) {
      const T* from = x + run.offset + l;
      for (std::int32_t k = 0; k < run.count; ++k) {
        r = M::combine(r, hn::LoadU(d, from + k * w.step));
      }
    }
    hn::StoreU(r, d, out + l);
  });
}

/// wins(offset, run, k, mask) for each element: where it beats those before it. In the end the
/// winner is the first of equals; the last NaN, if there is one.
template <bool kLargest, class D, class T, class Wins>
HWY_INLINE void each_win(D d, const T* x, const WindowElements& w, const Wins& wins) {
  auto best = hn::Zero(d);
  bool first = true;
  for (std::size_t r = 0; r < w.runs.size(); ++r) {
    for (std::int32_t k = 0; k < w.runs[r].count; ++k) {
      const std::int64_t at = w.runs[r].offset + k * w.step;
      const auto v = hn::LoadU(d, x + at);
      const auto better = kLargest ? hn::Gt(v, best) : hn::Lt(v, best);  // never by or over a NaN
      const auto won = first ? hn::Eq(best, best) : hn::Or(hn::IsNaN(v), better);
      first = false;
      best = hn::IfThenElse(won, v, best);
      wins(at, r, k, won);
    }
  }
}

template <bool kLargest, class T>
void gather(const T* HWY_RESTRICT values, const T* HWY_RESTRICT x, const WindowElements& w,
            std::int64_t lanes, T* HWY_RESTRICT out) {
  each_lane<T>(lanes, [&](auto d, std::int64_t l) HWY_ATTR {
    auto y = hn::Zero(d);
    each_win<kLargest>(d, x + l, w,
                       [&](std::int64_t at, std::size_t, std::int32_t, auto won)
                           HWY_ATTR { y = hn::IfThenElse(won, hn::LoadU(d, values + at + l), y); });
    hn::StoreU(y, d, out + l);
  });
}

template <bool kLargest, class T>
void scatter(const T* HWY_RESTRICT values, const T* HWY_RESTRICT x, const WindowElements& w,
             std::int64_t lanes, T* HWY_RESTRICT out) {
  using Place = hwy::MakeSigned<T>;
  each_lane<T>(lanes, [&](auto d, std::int64_t l) HWY_ATTR {
    const hn::Rebind<Place, decltype(d)> places;
    auto run = hn::Zero(places), place = hn::Zero(places);
    each_win<kLargest>(d, x + l, w,
                       [&](std::int64_t, std::size_t r, std::int32_t k, auto won) HWY_ATTR {
                         const auto mask = hn::RebindMask(places, won);
                         run = hn::IfThenElse(mask, hn::Set(places, static_cast<Place>(r)), run);
                         place = hn::IfThenElse(mask, hn::Set(places, Place{k}), place);
                       });
    const auto v = hn::LoadU(d, values + l);
    for (std::size_t r = 0; r < w.runs.size(); ++r) {
      const auto here = hn::Eq(run, hn::Set(places, static_cast<Place>(r)));
      T* to = out + w.runs[r].offset + l;
      for (std::int32_t k = 0; k < w.runs[r].count; ++k, to += w.step) {
        const auto mine = hn::And(here, hn::Eq(place, hn::Set(places, Place{k})));
        // Sums start at +0, which adding 0 leaves as they are.
        const auto more = hn::IfThenElseZero(hn::RebindMask(d, mine), v);
        hn::StoreU(hn::Add(hn::LoadU(d, to), more), d, to);
      }
    }
  });
}

template <class T>
WindowKernels<T> make_kernels() {
  return {{reduce<Sum, T>, reduce<Product, T>, reduce<Extreme<true>, T>, reduce<Extreme<false>, T>},
          {gather<false, T>, gather<true, T>},
          {scatter<false, T>, scatter<true, T>}};
}
const WindowKernels<float>& windows_f32() {
  static const WindowKernels<float> kernels = make_kernels<float>();
  return kernels;
}
const WindowKernels<double>& windows_f64() {
  static const WindowKernels<double> kernels = make_kernels<double>();
  return kernels;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(windows_f32);
HWY_EXPORT(windows_f64);

template <class T>
const WindowKernels<T>& window_kernels() {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(windows_f32)();
  } else {
    return HWY_DYNAMIC_DISPATCH(windows_f64)();
  }
}
template const WindowKernels<float>& window_kernels();
template const WindowKernels<double>& window_kernels();

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
