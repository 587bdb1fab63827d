#include "tlaloc/cpu/right_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/right_fives.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "tlaloc/cpu/right_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

const RightKernels* right_fives_here(Packing packing) {
  switch (packing) {
    case Packing::q5_0:
      return block_kernels<Packing::q5_0>();
    case Packing::q5_1:
      return block_kernels<Packing::q5_1>();
    default:
      return nullptr;
  }
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(right_fives_here);

const RightKernels* right_fives(Packing packing) {
  return HWY_DYNAMIC_DISPATCH(right_fives_here)(packing);
}

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
