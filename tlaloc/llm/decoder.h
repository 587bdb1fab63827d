// The program of every decoder: one definition for training, generation and export.
#pragma once

#include <functional>
#include <vector>

#include "tlaloc/ir/val.h"
#include "tlaloc/lang/tensor.h"
#include "tlaloc/llm/spec.h"
#include "tlaloc/llm/weights.h"
#include "tlaloc/ops/val_quant.h"

namespace tlaloc::llm {

using Weights = WeightsOf<Array>;
using WeightVals = WeightsOf<ir::Val>;

/// How a layer's tokens see each other. `q` is [tokens…, heads, width], `k` and `v` [tokens…, kv
/// heads, width], with positions in them already; the result is as q.
using Attend = std::function<ir::Val(std::size_t layer, ir::Val q, ir::Val k, ir::Val v)>;

/// The last hidden state of tokens at `positions`, normed: [tokens…, width], in f64 where the
/// embedding is, else in f32. `ids` is
/// [tokens…] of any integer type, `positions` i32 [tokens] of the last of those axes.
/// `activation`: how products with block-quantized weights take them.
ir::Val hidden(const DecoderSpec& spec, const WeightVals& weights, ir::Val ids, ir::Val positions,
               const Attend& attend, ops::Activation activation = ops::Activation::f32);
/// [rows…, width] to [rows…, vocabulary].
ir::Val logits_of(const DecoderSpec& spec, const WeightVals& weights, ir::Val hidden,
                  ops::Activation activation = ops::Activation::f32);

/// ids [batch, tokens], sequences from their first position on, to logits [batch, tokens,
/// vocabulary]. Differentiable with respect to weights that are dense.
ir::Val logits(const DecoderSpec& spec, const WeightVals& weights, ir::Val ids);

/// The same on arrays, at once or in a trace: what grad, vmap and jit take.
Array logits(const DecoderSpec& spec, const Weights& weights, const Array& ids,
             Where where = Where::current());

}  // namespace tlaloc::llm
