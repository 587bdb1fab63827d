// Ops on block-quantized weights, for inference: dense operands have derivatives, weights have
// none. See quant_blocks.h for the formats and for how bytes lie in an array.
#pragma once

#include <string>
#include <tuple>

#include "tlaloc/ops/op.h"
#include "tlaloc/ops/val_quant.h"

namespace tlaloc::ops {

inline constexpr Refusal kQuantizedWeights{"quantized weights carry no tangents"};

/// The encoding of the weights stands in the attributes too: evaluation sees bytes only.
struct QuantAttrs {
  std::string encoding;
  static constexpr auto fields() {
    return std::tuple(ir::field("encoding", &QuantAttrs::encoding));
  }
};
struct Dequantize {
  using Kind = Custom;
  using Attrs = QuantAttrs;
  static constexpr OpInfo kInfo{"dequantize", "A quantized value as a dense one."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static constexpr Refusal kNoJvp = kQuantizedWeights;
  static constexpr Refusal kNoTranspose = kQuantizedWeights;
  static void batch(const Call& c, BatchContext& ctx);
};

struct QuantMatmulAttrs {
  std::string encoding;
  bool transposed = false;
  Activation activation = Activation::f32;
  static constexpr auto fields() {
    return std::tuple(ir::field("encoding", &QuantMatmulAttrs::encoding),
                      ir::field("transposed", &QuantMatmulAttrs::transposed),
                      ir::field("activation", &QuantMatmulAttrs::activation));
  }
};
/// Sums run in the order of the contracted axis, in f32 (f64 for an f64 operand), and are rounded
/// once. The result has the dense operand's element type. With activation q8_32 it is inference
/// only: rounding has no derivative.
struct QuantMatmul {
  using Kind = Custom;
  using Attrs = QuantMatmulAttrs;
  static constexpr OpInfo kInfo{"quant_matmul", "A dense operand times quantized weights."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static void jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy);
  static void transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink);
  static void batch(const Call& c, BatchContext& ctx);
};

struct QuantGather {
  using Kind = Custom;
  using Attrs = QuantAttrs;
  static constexpr OpInfo kInfo{"quant_gather", "Rows of quantized weights, dense."};
  static void infer(InferContext& c);
  static void eval(EvalContext& c);
  static constexpr Refusal kNoJvp = kQuantizedWeights;
  static constexpr Refusal kNoTranspose = kQuantizedWeights;
  static void batch(const Call& c, BatchContext& ctx);
};

}  // namespace tlaloc::ops
