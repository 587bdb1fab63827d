#include "tlaloc/cpu/cumulative_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/cumulative_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "tlaloc/cpu/monoids-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

template <class M, bool kExclusive, class T>
void rows(const T* x, T* y, std::int64_t count, std::int64_t step, std::int64_t lanes,
          T* HWY_RESTRICT totals) {
  for (std::int64_t i = 0; i < count; ++i, x += step, y += step) {
    each_lane<T>(lanes, [&](auto d, std::int64_t l) HWY_ATTR {
      const auto before = hn::LoadU(d, totals + l);
      const auto after = M::combine(before, hn::LoadU(d, x + l));
      hn::StoreU(after, d, totals + l);
      hn::StoreU(kExclusive ? before : after, d, y + l);
    });
  }
}

template <class T>
CumulativeKernels<T> make_cumulative_kernels() {
  return {{{rows<Sum, false, T>, rows<Sum, true, T>},
           {rows<Product, false, T>, rows<Product, true, T>},
           {rows<Extreme<true>, false, T>, rows<Extreme<true>, true, T>},
           {rows<Extreme<false>, false, T>, rows<Extreme<false>, true, T>}}};
}
const CumulativeKernels<float>& cumulative_f32() {
  static const CumulativeKernels<float> kernels = make_cumulative_kernels<float>();
  return kernels;
}
const CumulativeKernels<double>& cumulative_f64() {
  static const CumulativeKernels<double> kernels = make_cumulative_kernels<double>();
  return kernels;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(cumulative_f32);
HWY_EXPORT(cumulative_f64);

template <class T>
const CumulativeKernels<T>& cumulative_kernels() {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(cumulative_f32)();
  } else {
    return HWY_DYNAMIC_DISPATCH(cumulative_f64)();
  }
}
template const CumulativeKernels<float>& cumulative_kernels();
template const CumulativeKernels<double>& cumulative_kernels();

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
