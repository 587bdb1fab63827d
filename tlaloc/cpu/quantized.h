// Operations on block-quantized weights. Their bytes are decoded where they are used.
#pragma once

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/ops/quant.h"

namespace tlaloc::cpu {

/// With the bits of the op table's row. `weights` holds bytes; the target may lie anyhow.
Value emit_dequantize(Emitter& e, const Value& weights, const std::string& encoding, ir::Type type);
/// Rows of a matrix, at positions of any integer type.
Value emit_quant_gather(Emitter& e, const Value& weights, const Value& indices,
                        const std::string& encoding, ir::Type type);

/// x times quantized weights, of x's type, f32 or f64, with the bits of the product with the
/// decoded weights as gemm.h has it: those of a row depend on nothing else. With activations
/// rounded to q8_32 and weights of four or eight bits, products within blocks are exact sums of
/// integers, and the bits those of integer_kernels.h. Weights that are the same in every run are
/// packed once.
Value emit_quant_matmul(Emitter& e, const Value& x, const Value& weights,
                        const ops::QuantMatmulAttrs& attrs, ir::Type type);

}  // namespace tlaloc::cpu
