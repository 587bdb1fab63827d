#include "tlaloc/cpu/right_kernels.h"

#include "tlaloc/base/error.h"

namespace tlaloc::cpu {

const RightKernels& right_kernels(Packing packing) {
  for (const auto find : {right_halves, right_bytes, right_fours, right_fives, right_cut}) {
    if (const RightKernels* const kernels = find(packing)) return *kernels;
  }
  throw InternalError("a packing has no kernels");
}

}  // namespace tlaloc::cpu
