// What cumulative.cc combines vectors of lines with; internal to cpu. One set per element type and
// kind of CPU.
#pragma once

#include <cstdint>

#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::cpu {

template <class T>
struct CumulativeKernels {
  /// `count` rows of `lanes` lines side by side, `step` elements apart: y = the totals with each
  /// row, or before it. x may be y.
  using Rows = void (*)(const T* x, T* y, std::int64_t count, std::int64_t step, std::int64_t lanes,
                        T* totals);
  struct Pair {
    Rows inclusive, exclusive;
  };
  Pair rows[4];  ///< by Monoid, sum to min
};

/// The set for the CPU this runs on.
template <class T>
const CumulativeKernels<T>& cumulative_kernels();
extern template const CumulativeKernels<float>& cumulative_kernels();
extern template const CumulativeKernels<double>& cumulative_kernels();

}  // namespace tlaloc::cpu
