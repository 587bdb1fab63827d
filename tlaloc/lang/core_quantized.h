// The untyped core, continued: block-quantized weights. Their type is that of the f32 values that
// they stand for; what they hold is bytes.
#pragma once

#include <memory>

#include "tlaloc/lang/core.h"

namespace tlaloc {

/// How weights are stored: GGUF's blocks of neighbours along the last axis. A block of q8_0 is
/// an f16 scale d and 32 signed bytes; q8_32 has an f32 scale. q4 and q5 have 4 and 5 bits per
/// element: (q - 8) d and (q - 16) d in version 0, q d + m with an f16 minimum m in version 1.
/// Those of k have 2 to 6 bits, in blocks of 256 whose parts have scales of their own; iq4 has 4
/// bits that stand for values of a table, in blocks of 32 (nl) and 256 (xs).
enum class QuantFormat : std::uint8_t {
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q8_32,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  count
};

/// How the dense operand of quant_matmul enters the product.
enum class QuantActivation : std::uint8_t {
  f32,   ///< as it is, computed in f32 (f64 in f64)
  q8_32  ///< rounded first, in blocks of 32 along the contracted axis
};

namespace core {

/// Blocks in row-major order, copied unless there is an owner, who keeps them alive. `sizes` as in
/// from_memory. UserError TL-SHAPE-002 when the bytes do not fill the axes, TL-QUANT-001 when the
/// last axis is not whole blocks.
Ref quantized(QuantFormat format, AxesSpec axes, std::span<const std::int64_t> sizes,
              std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner, Where where);
/// The blocks of a concrete value. UserError TL-TRACE-001.
std::span<const std::uint8_t> quantized_bytes(const Ref& w, Where where);
Ref dequantize(const Ref& w, AxesSpec axes, Where where);
/// x [..., k] times w [n, k]: [..., n]; transposed, x [..., n] times w: [..., k]. UserError
/// TL-SHAPE-003, TL-QUANT-001 (an activation that does not fit).
Ref quant_matmul(const Ref& x, const Ref& w, bool transposed, QuantActivation activation,
                 AxesSpec axes, Where where);
/// Rows of w [n, k] at the indices, clamped.
Ref quant_gather(const Ref& w, const Ref& indices, AxesSpec axes, Where where);

}  // namespace core
}  // namespace tlaloc
