// What one core of this machine can do at best, measured.
#pragma once

#include <cstdint>

#include "tlaloc/base/dtype.h"

namespace tlaloc::cpu {

struct Ceilings {
  double flops_f32 = 0, flops_f64 = 0;  ///< multiply-adds count as two, per second
  /// Bytes per second from and to arrays that together have 16 KiB, 256 KiB, 4 MiB, 64 MiB.
  double bandwidth[4] = {};

  double flops(DType t) const { return t == DType::f64 ? flops_f64 : flops_f32; }
  /// For a kernel that touches so many bytes: what its last run left may still be in a cache.
  double bandwidth_of(double bytes) const;
};

/// Measured at the first call, in some 50 ms.
const Ceilings& ceilings();

}  // namespace tlaloc::cpu
