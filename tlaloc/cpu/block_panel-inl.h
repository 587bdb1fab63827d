// Panels of quantized blocks; for kernels, per kind of CPU.
#include <cstddef>
#include <cstdint>

#include "tlaloc/cpu/right_kernels.h"

#if defined(TLALOC_CPU_BLOCK_PANEL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TLALOC_CPU_BLOCK_PANEL_INL_H
#undef TLALOC_CPU_BLOCK_PANEL_INL_H
#else
#define TLALOC_CPU_BLOCK_PANEL_INL_H
#endif

#include <hwy/highway.h>

#include "tlaloc/cpu/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;
using Words = hn::RebindToUnsigned<D>;
using Integers = hn::RebindToSigned<D>;
constexpr D kTag;
constexpr std::int64_t kLanes = hn::MaxLanes(D()), kWidth = kColumns<float>;
constexpr int kBlock = 32;

HWY_INLINE V widened_half(const std::byte* from) {
#if HWY_TARGET <= HWY_AVX2
  const hn::Rebind<hwy::float16_t, D> d;
  return hn::PromoteTo(kTag, hn::LoadU(d, reinterpret_cast<const hwy::float16_t*>(from)));
#else
  const hn::Rebind<std::uint16_t, D> d;
  const auto bits =
      hn::PromoteTo(Words(), hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(from)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(Words(), 0x8000)));
  const auto number = hn::ShiftLeft<13>(hn::And(bits, hn::Set(Words(), 0x7fff)));
  // The exponent is 112 too small; of infinity and NaN it is all ones in both.
  const auto finite =
      hn::BitCast(Words(), hn::Mul(hn::BitCast(kTag, number), hn::Set(kTag, 0x1p112f)));
  const auto ones = hn::Set(Words(), 0x0f800000);
  const auto is_special = hn::Eq(hn::And(number, ones), ones);
  const auto special = hn::Or(number, hn::Set(Words(), 0x7f800000));
  return hn::BitCast(kTag, hn::Or(hn::IfThenElse(is_special, special, finite), sign));
#endif
}

/// Where what lies in a panel of blocks, as right_kernels.h has it. `b`: one block; v: a vector of
/// columns.
template <Packing kPacking>
struct BlockPanel {
  static constexpr BlockLayout kLayout = block_layout(kPacking);
  static constexpr std::int64_t kBytes = kLayout.bytes() * kWidth;
  static constexpr std::int64_t kScales = kLayout.scale * kWidth;  ///< of a part
  static constexpr std::int64_t kLeast = kLayout.parts * kScales;
  static constexpr std::int64_t kFifth = kLeast * (kLayout.has_least ? 2 : 1);
  static constexpr std::int64_t kElements = kFifth + (kLayout.has_fifth ? 4 * kWidth : 0);

  static HWY_INLINE V scale(const std::byte* b, int v, int part = 0) {
    return number(b + part * kScales, v);
  }
  static HWY_INLINE V least(const std::byte* b, int v, int part = 0) {
    if constexpr (!kLayout.has_least) return hn::Zero(kTag);
    return number(b + kLeast + part * kScales, v);
  }
  static HWY_INLINE V number(const std::byte* from, int v) {
    if constexpr (kLayout.scale == 4) {
      return hn::LoadU(kTag, reinterpret_cast<const float*>(from) + v * kLanes);
    }
    return widened_half(from + v * 2 * kLanes);
  }
  static HWY_INLINE hn::Vec<Words> words(const std::byte* from, int v) {
    return hn::LoadU(Words(), reinterpret_cast<const std::uint32_t*>(from) + v * kLanes);
  }
};

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
