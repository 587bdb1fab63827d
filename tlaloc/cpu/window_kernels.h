// What windows.cc makes windows of; internal to cpu. One set per element type and kind of CPU.
#pragma once

#include <cstdint>
#include <span>

#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::cpu {

/// Where the elements of a window lie: runs of elements `step` apart.
struct WindowElements {
  struct Run {
    std::int64_t offset;
    std::int32_t count;
  };
  std::span<const Run> runs;  ///< none is empty
  std::int64_t step = 0;
};

/// On `lanes` windows side by side, whose elements lie side by side too. Element for element as the
/// op table's rows do it.
template <class T>
struct WindowKernels {
  /// out = the elements, combined in order, from the identity on.
  using Reduce = void (*)(const T* x, const WindowElements& w, std::int64_t lanes, T* out);
  Reduce reduce[4];  ///< by Monoid, sum to min
  /// out = the values where x wins; 0 without elements.
  using Gather = void (*)(const T* values, const T* x, const WindowElements& w, std::int64_t lanes,
                          T* out);
  Gather gather[2];  ///< by whether the largest wins
  /// out += the values, one per window, where x wins.
  using Scatter = void (*)(const T* values, const T* x, const WindowElements& w, std::int64_t lanes,
                           T* out);
  Scatter scatter[2];
};

/// The set for the CPU this runs on.
template <class T>
const WindowKernels<T>& window_kernels();
extern template const WindowKernels<float>& window_kernels();
extern template const WindowKernels<double>& window_kernels();

}  // namespace tlaloc::cpu
