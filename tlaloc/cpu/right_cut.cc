#include "tlaloc/cpu/right_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tlaloc/cpu/right_cut.cc"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "tlaloc/cpu/right_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tlaloc::cpu::HWY_NAMESPACE {

const RightKernels* right_cut_here(Packing packing) {
  switch (packing) {
    case Packing::q2_k:
      return few_block_kernels<Packing::q2_k>();
    case Packing::q3_k:
      return few_block_kernels<Packing::q3_k>();
    case Packing::q4_k:
      return few_block_kernels<Packing::q4_k>();
    case Packing::q5_k:
      return few_block_kernels<Packing::q5_k>();
    case Packing::q6_k:
      return few_block_kernels<Packing::q6_k>();
    default:
      return nullptr;
  }
}

}  // namespace tlaloc::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tlaloc::cpu {

HWY_EXPORT(right_cut_here);

const RightKernels* right_cut(Packing packing) {
  return HWY_DYNAMIC_DISPATCH(right_cut_here)(packing);
}

}  // namespace tlaloc::cpu
#endif  // HWY_ONCE
