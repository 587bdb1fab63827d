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

/// x times quantized weights, of x's type, f32 or f64. Results of up to four rows of f32 add up a
/// few partial sums, by the CPU's vectors; those of more rows, of f64, and of transposed weights
/// are as gemm.h adds them. So bits depend on the kind of CPU and on whether rows are few, but not
/// on the number of threads.
Value emit_quant_matmul(Emitter& e, const Value& x, const Value& weights,
                        const ops::QuantMatmulAttrs& attrs, ir::Type type);

}  // namespace tlaloc::cpu
