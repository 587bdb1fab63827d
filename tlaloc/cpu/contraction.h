// Sums of products over arrays with any axes, as products of matrices; what dot.h and conv.h run.
#pragma once

#include <cstdint>
#include <vector>

#include "tlaloc/cpu/gemm.h"

namespace tlaloc::cpu {

/// A size and the strides in A, B and C. Rows have no stride in B, columns none in A, what is
/// summed over (depth) none in C.
struct ContractionAxis {
  std::int64_t size = 1, a = 0, b = 0, c = 0;
};

struct Contraction {
  DType dtype = DType::f32;
  std::vector<ContractionAxis> batch, rows, columns, depth;
  /// Adds to C. Where several depth axes aren't one, results of 16 bits would round between them.
  bool accumulate = false;
  bool shared = false;  ///< as Gemm::shared
  /// As Gemm::packed_b; then there are one axis of columns and one of depth, and no batch.
  PackedRight packed_b = {};
};

/// Neighbours become one axis where all three arrays allow it; sizes of 1 go.
std::vector<ContractionAxis> merged(std::vector<ContractionAxis> axes);

std::size_t contraction_scratch_bytes(DType dtype);
/// The pointers are to the first elements. No size may be 0 but that of a single depth axis.
/// `scratch` has contraction_scratch_bytes, aligned to 64.
void contract(Contraction c, const std::byte* a, const std::byte* b, std::byte* result,
              std::byte* scratch);

}  // namespace tlaloc::cpu
