// Arrays of f16 to f32 and back, by vectors; internal to cpu.
#pragma once

#include <cstdint>

#include "tlaloc/base/dtype.h"

namespace tlaloc::cpu {

/// Element for element as Half's own conversions.
struct HalfKernels {
  void (*widen)(float* y, const Half* x, std::int64_t n);
  void (*narrow)(Half* y, const float* x, std::int64_t n);
};
/// The set for the CPU this runs on.
const HalfKernels& half_kernels();

}  // namespace tlaloc::cpu
