// The functions of kKernelOps on arrays, by vectors, with the bits that compiled code has on the
// same CPU; internal to cpu.
#pragma once

#include <array>
#include <cstdint>

#include "tlaloc/cpu/math_ops.h"

namespace tlaloc::cpu {

template <class T>
struct MathKernels {
  /// z[i] = f(x[i]), or f(x[i], y[i]), for i < n; z may be x or y. An element's result depends on
  /// nothing but that element.
  using Run = void (*)(T* z, const T* x, const T* y, std::int64_t n);
  std::array<Run, kKernelOps.size()> run;  ///< by place in kKernelOps
};

/// The set for the CPU this runs on.
template <class T>
const MathKernels<T>& math_kernels();
extern template const MathKernels<float>& math_kernels();
extern template const MathKernels<double>& math_kernels();

}  // namespace tlaloc::cpu
