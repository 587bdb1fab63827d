// Products of activations that are rounded to q8_32 with quantized weights, by sums of integers.
#pragma once

#include <cstdint>
#include <span>

#include "tlaloc/cpu/packed_right.h"

namespace tlaloc::cpu {

/// Whether there are kernels for it. What they compute: integer_kernels.h.
bool multiplies_by_integers(Packing packing);

/// y [m, n] of dense x [m, k] and a packed right side [k, n], by the gang if that is worth it, for
/// each of the right sides; x is rounded once for all of them. The bits of a row depend on nothing
/// else, and are the same on every CPU.
struct IntegerProduct {
  struct Side {
    PackedRight right;
    std::int64_t n = 0;
    float* y = nullptr;
    std::int64_t y_row = 0;
  };
  std::int64_t m = 0, k = 0;
  const float* x = nullptr;
  std::span<const Side> sides;
};
void multiply_by_integers(const IntegerProduct& p);

}  // namespace tlaloc::cpu
