// Kernels for packed right sides whose elements are not those of the product; internal to cpu. One
// set per packing and kind of CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tlaloc/cpu/gemm_kernels.h"
#include "tlaloc/cpu/packed_right.h"

namespace tlaloc::cpu {

/// A panel of 16-bit elements is [k][columns]. One of blocks is, block by block along k, what the
/// columns' blocks have of each: the scales, the least values, the fifth bits, [columns] each, of
/// which the first two may be of the first and of the second 16 elements; then the 32 bytes, or 16
/// with halves, as [8] or [4][columns] words of 4 bytes.
struct RightKernels {
  TileKernels<float> tiles;
  /// Of the largest tile. More rows meet the elements after they were expanded.
  std::int64_t rows = 0;
  /// The elements of a panel from some k on, which starts a block: out[k][columns].
  using Expand = void (*)(const std::byte* b, std::int64_t depth, float* out);
  Expand expand = nullptr;
};

/// For any packing but f32 and f64.
const RightKernels& right_kernels(Packing packing);

// Where they are; each compiled by itself, as that takes long. nullptr for other packings.
const RightKernels* right_halves(Packing packing);  ///< f16, bf16
const RightKernels* right_bytes(Packing packing);   ///< q8_0, q8_32 and the tables of bytes
const RightKernels* right_fours(Packing packing);   ///< q4_0, q4_1
const RightKernels* right_fives(Packing packing);   ///< q5_0, q5_1
const RightKernels* right_cut(Packing packing);     ///< blocks of 256

/// What 32 elements of a column take in such a panel.
struct BlockLayout {
  std::int64_t scale = 2;  ///< bytes, as of a least value
  std::int64_t parts = 1;  ///< that have scales and least values of their own
  bool has_least = false, has_fifth = false, has_bytes = false;
  float offset = 0;  ///< of the integers
  constexpr std::int64_t bytes() const {
    return scale * parts * (has_least ? 2 : 1) + (has_fifth ? 4 : 0) + 4 * words();
  }
  constexpr int words() const { return has_bytes ? 8 : 4; }
};
constexpr BlockLayout block_layout(Packing p) {
  switch (p) {
    case Packing::q8_0:
      return {.has_bytes = true};
    case Packing::q8_32:
    case Packing::iq4_nl:  // the values of their table are bytes
    case Packing::iq4_xs:
      return {.scale = 4, .has_bytes = true};
    case Packing::q4_0:
      return {.offset = 8};
    case Packing::q4_1:
      return {.has_least = true};
    case Packing::q5_0:
      return {.has_fifth = true, .offset = 16};
    case Packing::q2_k:
      return {.scale = 4, .parts = 2, .has_least = true};
    case Packing::q3_k:
      return {.scale = 4, .parts = 2, .offset = 4};
    case Packing::q4_k:
      return {.scale = 4, .has_least = true};
    case Packing::q5_k:
      return {.scale = 4, .has_least = true, .has_fifth = true};
    case Packing::q6_k:
      return {.scale = 4, .parts = 2, .has_bytes = true};
    default:
      return {.has_least = true, .has_fifth = true};
  }
}

}  // namespace tlaloc::cpu
