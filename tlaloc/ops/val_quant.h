// The vocabulary of block-quantized weights. See val_ops.h.
#pragma once

#include <array>
#include <string_view>

#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

/// A quantized value as a dense one of its element type.
Val dequantize(Val w);

/// How the dense operand of quant_matmul enters the product.
enum class Activation : std::uint8_t {
  f32,   ///< as it is, computed in f32 (f64 in f64)
  q8_32  ///< rounded first: blocks of 32 signed bytes with an f32 scale of max|x| / 127
};
constexpr std::array<std::string_view, 2> enum_names(Activation) { return {"f32", "q8_32"}; }
/// x [..., k] times w [n, k] quantized along k: [..., n]. With `transposed`, x [..., n] times w:
/// [..., k].
Val quant_matmul(Val x, Val w, bool transposed = false, Activation activation = Activation::f32);

/// Rows of w [n, k] at `indices` (clamped): [indices..., k], dense.
Val quant_gather(Val w, Val indices);

}  // namespace tlaloc::ops
