#include "tlaloc/cpu/half_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/half_kernels.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Wholes = hn::RebindToSigned<Floats>;
using Shorts = hn::Rebind<std::uint16_t, Floats>;
using V = hn::Vec<Wholes>;

HWY_INLINE V bits(std::int32_t x) { return hn::Set(Wholes(), x); }

/// All vectors, then what is left, element by element.
template <class Vector, class One>
HWY_INLINE void each(std::int64_t n, const Vector& vector, const One& one) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(Floats()));
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) vector(i);
  for (; i < n; ++i) one(i);
}

void widen_halves(float* y, const Half* x, std::int64_t n) {
  const auto* from = reinterpret_cast<const std::uint16_t*>(x);
  each(
      n,
      [&](std::int64_t i) HWY_ATTR {
        const V h = hn::PromoteTo(Wholes(), hn::LoadU(Shorts(), from + i));
        const V sign = hn::ShiftLeft<16>(hn::And(h, bits(0x8000)));
        // The exponent where a float has it, but 112 too small; that of infinity and NaN is all
        // ones.
        const V size = hn::ShiftLeft<13>(hn::And(h, bits(0x7fff)));
        const auto number = hn::Mul(hn::BitCast(Floats(), size), hn::Set(Floats(), 0x1p112F));
        const auto finite = hn::Lt(size, bits(0x1f << 23));
        const V r =
            hn::IfThenElse(finite, hn::BitCast(Wholes(), number), hn::Or(size, bits(0x7f800000)));
        hn::StoreU(hn::BitCast(Floats(), hn::Or(r, sign)), Floats(), y + i);
      },
      [&](std::int64_t i) { y[i] = static_cast<float>(x[i]); });
}

void narrow_halves(Half* y, const float* x, std::int64_t n) {
  auto* to = reinterpret_cast<std::uint16_t*>(y);
  each(
      n,
      [&](std::int64_t i) HWY_ATTR {
        const V u = hn::BitCast(Wholes(), hn::LoadU(Floats(), x + i));
        const V size = hn::And(u, bits(0x7fffffff));
        const V sign = hn::And(hn::ShiftRight<16>(u), bits(0x8000));
        // As Half(float), whose comments say why.
        const V odd = hn::And(hn::ShiftRight<13>(size), bits(1));
        V r =
            hn::ShiftRight<13>(hn::Sub(hn::Add(hn::Add(size, bits(0xfff)), odd), bits(0x38000000)));
        const auto aligned = hn::Add(hn::BitCast(Floats(), size), hn::Set(Floats(), 0.5F));
        r = hn::IfThenElse(hn::Lt(size, bits(0x38800000)),
                           hn::Sub(hn::BitCast(Wholes(), aligned), bits(0x3f000000)), r);
        r = hn::IfThenElse(hn::Lt(size, bits(0x477ff000)), r, bits(0x7c00));
        const V nan = hn::Or(bits(0x7e00), hn::And(hn::ShiftRight<13>(size), bits(0x1ff)));
        r = hn::Or(hn::IfThenElse(hn::Gt(size, bits(0x7f800000)), nan, r), sign);
        hn::StoreU(hn::DemoteTo(Shorts(), r), Shorts(), to + i);
      },
      [&](std::int64_t i) { y[i] = Half(x[i]); });
}

const HalfKernels& halves() {
  static constexpr HalfKernels kKernels{widen_halves, narrow_halves};
  return kKernels;
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(halves);
const HalfKernels& half_kernels() { return HWY_DYNAMIC_DISPATCH(halves)(); }

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
