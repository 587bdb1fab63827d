// Kernels for products of rounded activations with quantized weights, by sums of integers; internal
// to cpu. One set per packing and kind of CPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tlaloc/cpu/packed_right.h"

namespace tlaloc::cpu {

/// y[r][j] = the sum over blocks, in order, of d e I + m (e S): d and m are the scale and the least
/// value of the weights' block, e is the scale of the row's, and I and S are exact sums over the 32
/// products of integers and over the row's 32 integers. Each multiplication and each addition
/// rounds, so the bits are the same on every CPU.
///
/// A tile of rows is, block by block, for each row a word of: 4 signed bytes, eight times; e; S; e
/// S.
struct IntegerKernels {
  static constexpr int kMaxRows = 8;
  static constexpr std::int64_t kWords = 11;  ///< of a row's block
  std::int64_t rows = 0, columns = 0;

  /// Rounds blocks as ops::round_to_q8_32 does, to the words of row `r` of a tile with `rows` rows.
  /// A block with infinities or NaN has a scale of NaN.
  using Round = void (*)(const float* x, std::int64_t blocks, std::int64_t r, std::int64_t rows,
                         std::int32_t* out);
  Round round = nullptr;

  /// Writes the products of a tile and of `panels` panels, which are `stride` bytes apart in B and
  /// `apart` elements in C.
  using Run = void (*)(std::int64_t blocks, const std::int32_t* a, const std::byte* b,
                       std::int64_t stride, float* c, std::int64_t row, std::int64_t apart);
  struct Tile {
    Run run = nullptr;
    std::int64_t panels = 1;
  };
  Tile narrow[kMaxRows];  ///< by rows - 1: one panel
  Tile wide[kMaxRows];    ///< several streams of memory
};

/// Null for a packing without such kernels.
const IntegerKernels* integer_kernels(Packing packing);
/// Whether kernels may use a processor's dot products of bytes (AVX512-VNNI), as they do at first.
void allow_dot_products(bool are);
/// Whether this processor has them.
bool has_dot_products();

}  // namespace tlaloc::cpu
