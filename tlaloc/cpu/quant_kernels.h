// What quantized.cc makes of blocks of quantized weights; internal to cpu. One set per encoding and
// kind of CPU.
#pragma once

#include <cstdint>
#include <string_view>

namespace tlaloc::cpu {

struct QuantKernels {
  /// The elements of `count` blocks behind each other, with the bits of ops::decode_block.
  using Decode = void (*)(const std::uint8_t* blocks, std::int64_t count, float* out);
  Decode decode = nullptr;

  /// Rows of activations up to which one decoding serves all.
  static constexpr int kRows = 4;
  /// sums[r * sums_row] = the sum over all elements of `count` blocks of x[r * x_row + k] w[k]. Its
  /// order depends on the kind of CPU and on `count` alone.
  using Dots = void (*)(const std::uint8_t* blocks, std::int64_t count, const float* x,
                        std::int64_t x_row, float* sums, std::int64_t sums_row);
  Dots dots[kRows] = {};  ///< by rows - 1
};

/// The set of an encoding for the CPU this runs on.
const QuantKernels& quant_kernels(std::string_view encoding);

}  // namespace tlaloc::cpu
