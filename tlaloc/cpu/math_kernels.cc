#include "tlaloc/cpu/math_kernels.h"

#include <algorithm>
#include <cmath>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/math_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "tlaloc/cpu/math_functions-inl.h"
#include "tlaloc/cpu/math_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

template <ops::OpId kOp, class T>
T library(T x) {
  if constexpr (kOp == ops::OpId::Sin) return std::sin(x);
  if constexpr (kOp == ops::OpId::Cos) return std::cos(x);
  if constexpr (kOp == ops::OpId::Tan) return std::tan(x);
  return x;
}

template <ops::OpId kOp, class D, class M>
HWY_INLINE Real<M> result(D d, const M& m, const Real<M>& x, const Real<M>& y) {
  using enum ops::OpId;
  if constexpr (kOp == Sqrt) {
    return hn::Sqrt(x);
  } else if constexpr (kOp == Rsqrt) {
    return hn::Div(m.real(1), hn::Sqrt(x));
  } else if constexpr (kOp == Ceil) {
    // Where there is no instruction, Highway's zeros are positive.
    return hn::CopySign(hn::Ceil(x), x);
  } else if constexpr (kOp == Floor) {
    return hn::CopySign(hn::Floor(x), x);
  } else if constexpr (kOp == Round) {
    // The largest number below one half: with it, sums never round up to the next integer.
    const auto half = hn::Set(d, std::nextafter(hn::TFromD<D>{0.5}, hn::TFromD<D>{0}));
    return hn::CopySign(hn::Trunc(hn::Add(x, hn::CopySign(half, x))), x);
  } else if constexpr (kOp == RoundEven) {
    return hn::CopySign(hn::Round(x), x);
  } else {
    return math<kOp>(m, x, y, library<kOp, hn::TFromD<D>>);
  }
}

template <ops::OpId kOp, class T>
void run(T* z, const T* x, const T* y, std::int64_t n) {
  constexpr bool kWidens = widens(kOp) && sizeof(T) < sizeof(double);
  using Math = std::conditional_t<kWidens, WideningMath, VectorMath<hn::ScalableTag<T>>>;
  const Math m;
  const typename Math::D d;
  auto vector = [&](const T* a, const T* b)
                    HWY_ATTR { return result<kOp>(d, m, hn::LoadU(d, a), hn::LoadU(d, b)); };
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(vector(x + i, (takes_two(kOp) ? y : x) + i), d, z + i);
  }
  if (i == n) return;
  // What is left is a vector too, so that it has the same bits.
  HWY_ALIGN T a[hn::MaxLanes(d)] = {}, b[hn::MaxLanes(d)] = {};
  std::copy(x + i, x + n, a);
  if constexpr (takes_two(kOp)) std::copy(y + i, y + n, b);
  hn::Store(vector(a, b), d, a);
  std::copy_n(a, n - i, z + i);
}

template <class T>
const MathKernels<T>& kernels() {
  static constexpr auto kKernels = []<std::size_t... I>(std::index_sequence<I...>) {
    return MathKernels<T>{{run<kKernelOps[I], T>...}};
  }(std::make_index_sequence<kKernelOps.size()>());
  return kKernels;
}
const MathKernels<float>& math_f32() { return kernels<float>(); }
const MathKernels<double>& math_f64() { return kernels<double>(); }

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(math_f32);
HWY_EXPORT(math_f64);

template <class T>
const MathKernels<T>& math_kernels() {
  if constexpr (std::is_same_v<T, float>) {
    return HWY_DYNAMIC_DISPATCH(math_f32)();
  } else {
    return HWY_DYNAMIC_DISPATCH(math_f64)();
  }
}
template const MathKernels<float>& math_kernels();
template const MathKernels<double>& math_kernels();

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
