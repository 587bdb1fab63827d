#include "tlaloc/cpu/right_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/right_halves.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "tlaloc/cpu/block_panel-inl.h"
#include "tlaloc/cpu/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct F16 {
  static constexpr std::int64_t kBytes = 2 * kWidth;
  static HWY_INLINE V load(const std::byte* b, int v) { return widened_half(b + v * 2 * kLanes); }
};
struct BF16 {
  static constexpr std::int64_t kBytes = 2 * kWidth;
  static HWY_INLINE V load(const std::byte* b, int v) {
    const hn::Rebind<std::uint16_t, D> d;
    const auto bits = hn::LoadU(d, reinterpret_cast<const std::uint16_t*>(b) + v * kLanes);
    return hn::BitCast(kTag, hn::ShiftLeft<16>(hn::PromoteTo(Words(), bits)));
  }
};

template <class Panel>
void expand(const std::byte* b, std::int64_t depth, float* HWY_RESTRICT out) {
  for (std::int64_t k = 0; k < depth; ++k, b += Panel::kBytes, out += kWidth) {
    for (int v = 0; v < 2; ++v) hn::Store(Panel::load(b, v), kTag, out + v * kLanes);
  }
}

template <class Panel>
const RightKernels* kernels_of() {
  static const RightKernels kernels{tile_kernels<TileOf<Panel, float>, float>(), kRows,
                                    expand<Panel>};
  return &kernels;
}

const RightKernels* right_halves_here(Packing packing) {
  switch (packing) {
    case Packing::f16:
      return kernels_of<F16>();
    case Packing::bf16:
      return kernels_of<BF16>();
    default:
      return nullptr;
  }
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(right_halves_here);

const RightKernels* right_halves(Packing packing) {
  return HWY_DYNAMIC_DISPATCH(right_halves_here)(packing);
}

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
