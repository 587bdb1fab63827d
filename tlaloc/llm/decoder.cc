#include "tlaloc/llm/decoder.h"

#include <algorithm>

#include "tlaloc/lang/apply.h"
#include "tlaloc/llm/leaves.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_quant.h"

namespace tlaloc::llm {
namespace {

using ir::Dim;
using ir::Type;
using ir::Val;
using ops::operator+;
using ops::operator-;
using ops::operator*;
using ops::operator/;
using Shape = std::vector<Dim>;

Shape shape_of(Val x) { return {x.shape().begin(), x.shape().end()}; }

/// x with its last axis cut into parts of a size, and back.
Val split_last(Val x, std::int64_t parts, std::int64_t size) {
  Shape shape = shape_of(x);
  shape.back() = parts;
  shape.emplace_back(size);
  return ops::reshape(x, shape);
}
Val join_last(Val x) {
  Shape shape = shape_of(x);
  const Dim last = shape.back();
  shape.pop_back();
  shape.back() = shape.back() * last;
  return ops::reshape(x, shape);
}

Val converted(Val x, DType dtype) { return x.dtype() == dtype ? x : ops::convert(x, dtype); }

/// x times wᵀ, whatever w is stored as.
Val product(Val x, Val w, ops::Activation activation) {
  if (w.type().encoding()) return ops::quant_matmul(x, w, false, activation);
  ops::DotDims dims;
  dims.lhs_contract = {x.rank() - 1};
  dims.rhs_contract = {1};
  return ops::dot_general(x, converted(w, x.dtype()), dims);
}
Val over_last(Val w, Val like) {
  const std::int64_t last[] = {like.rank() - 1};
  return ops::broadcast_in_dim(converted(w, like.dtype()), like.shape(), last);
}
Val linear(Val x, const LinearOf<Val>& w, ops::Activation activation) {
  const Val y = product(x, w.weight, activation);
  return w.bias ? y + over_last(*w.bias, y) : y;
}

Val norm(Val x, const NormSpec& spec, Val weight) {
  Val scale = converted(weight, x.dtype());
  if (spec.around_zero) scale = scale + 1.0;
  return ops::rms_norm(x, scale, spec.epsilon);
}
Val norm_if(Val x, const std::optional<NormSpec>& spec, const std::optional<Val>& weight) {
  return spec ? norm(x, *spec, *weight) : x;
}

/// Cosines and sines of a rope at the positions: [tokens, frequencies].
struct Angles {
  Val cosine, sine;
};
Angles angles_of(const RopeSpec& rope, Val positions, DType dtype) {
  const Val listed = ops::constant(HostArray::from<float>(
      rope.frequencies, {static_cast<std::int64_t>(rope.frequencies.size())}));
  const Val frequencies = converted(listed, dtype);
  const Shape shape{positions.dim(0), frequencies.dim(0)};
  const std::int64_t rows[] = {0}, columns[] = {1};
  const Val angle = ops::broadcast_in_dim(ops::convert(positions, dtype), shape, rows) *
                    ops::broadcast_in_dim(frequencies, shape, columns);
  return {ops::cos(angle) * rope.factor, ops::sin(angle) * rope.factor};
}

/// The first elements of heads, x [tokens…, heads, width]: two halves of so many each, and what is
/// behind them. In this order whatever the order of the rows that they come from: products of
/// queries and keys then add in the same order, so that logits have the same bits.
struct Halves {
  Val first, second;
  std::optional<Val> rest;
};
Halves halves_of(Val x, std::int64_t size, bool interleaved) {
  const int last = x.rank() - 1;
  const Dim width = x.dim(last);
  Shape shape = shape_of(x);
  shape.back() = size;
  Halves h;
  if (interleaved) {
    const Val pairs = split_last(ops::slice_axis(x, last, 0, 2 * size), size, 2);
    h.first = ops::reshape(ops::slice_axis(pairs, last + 1, 0, 1), shape);
    h.second = ops::reshape(ops::slice_axis(pairs, last + 1, 1, 2), shape);
  } else {
    h.first = ops::slice_axis(x, last, 0, size);
    h.second = ops::slice_axis(x, last, size, 2 * size);
  }
  if (!(width == Dim(2 * size))) h.rest = ops::slice_axis(x, last, 2 * size, width);
  return h;
}
Val joined(const Halves& h) {
  std::vector<Val> parts = {h.first, h.second};
  if (h.rest) parts.push_back(*h.rest);
  return ops::concatenate(parts, parts[0].rank() - 1);
}

/// Halves that turn by the angles of their token.
Halves turned(const Angles& angles, Halves h) {
  const Shape shape = shape_of(h.first);
  const auto last = static_cast<std::int64_t>(shape.size()) - 1;
  const std::int64_t axes[] = {last - 2, last};
  const Val c = ops::broadcast_in_dim(angles.cosine, shape, axes);
  const Val s = ops::broadcast_in_dim(angles.sine, shape, axes);
  return {h.first * c - h.second * s, h.second * c + h.first * s, h.rest};
}

struct Layer {
  const DecoderSpec& spec;
  const std::vector<Angles>& angles;
  const Attend& attend;
  ops::Activation activation;

  Val times(Val x, const LinearOf<Val>& w) const { return linear(x, w, activation); }
  /// Queries or keys: normed, with their position.
  Val placed(const AttentionSpec& a, Val x, std::int64_t heads, const std::optional<Val>& weight,
             double factor) const {
    if (a.head_norm == HeadNorm::all) x = norm(x, a.head_norm_spec, *weight);
    x = split_last(x, heads, a.width);
    if (a.head_norm == HeadNorm::each) x = norm(x, a.head_norm_spec, *weight);
    if (a.head_norm == HeadNorm::weightless) x = ops::rms_norm(x, {}, a.head_norm_spec.epsilon);
    if (factor != 1) x = x * factor;
    const bool interleaved = a.interleaved != 0;
    if (!a.rope) return interleaved ? joined(halves_of(x, a.interleaved / 2, true)) : x;
    const auto rope = static_cast<std::size_t>(*a.rope);
    const auto size = static_cast<std::int64_t>(spec.ropes[rope].frequencies.size());
    return joined(turned(angles[rope], halves_of(x, size, interleaved)));
  }

  Val attention(std::size_t layer, Val x, const AttentionSpec& a, const AttentionOf<Val>& w) const {
    const Val q = placed(a, times(x, w.query), a.heads, w.query_norm, a.query_factor);
    const Val k = placed(a, times(x, w.key), a.kv_heads, w.key_norm, 1);
    const Val v = split_last(times(x, w.value), a.kv_heads, a.width);
    Val o = join_last(attend(layer, q, k, v));
    if (a.gated) o = o * ops::logistic(times(x, *w.gate));
    return times(o, w.output);
  }

  Val mlp(Val x, const MlpSpec& m, const MlpOf<Val>& w) const {
    const Val gate = times(x, w.gate), up = times(x, w.up);
    switch (m.activation) {
      case MlpActivation::silu:
        return times(ops::swiglu(gate, up), w.down);
      case MlpActivation::gelu:
        return times(ops::gelu(gate) * up, w.down);
      case MlpActivation::gelu_tanh:
        return times(ops::gelu_tanh(gate) * up, w.down);
    }
    return {};
  }

  Val operator()(std::size_t i, Val x, const LayerOf<Val>& w) const {
    const LayerSpec& l = spec.layers[i];
    auto add = [&](Val part) {
      return x + (l.residual_factor == 1 ? part : part * l.residual_factor);
    };
    x = add(norm_if(
        attention(i, norm_if(x, l.attention_norm, w.attention_norm), l.attention, w.attention),
        l.attention_output_norm, w.attention_output_norm));
    return add(norm_if(mlp(norm_if(x, l.mlp_norm, w.mlp_norm), l.mlp, w.mlp), l.mlp_output_norm,
                       w.mlp_output_norm));
  }
};

}  // namespace

Val hidden(const DecoderSpec& spec, const WeightVals& weights, Val ids, Val positions,
           const Attend& attend, ops::Activation activation) {
  Val x = weights.embedding.type().encoding() ? ops::quant_gather(weights.embedding, ids)
                                              : ops::take(weights.embedding, ids, 0);
  if (x.dtype() != DType::f64) x = converted(x, DType::f32);
  if (spec.embedding_norm) x = ops::rms_norm(x, {}, *spec.embedding_norm);
  if (spec.embedding_factor != 1) x = x * spec.embedding_factor;
  std::vector<Angles> angles;
  for (const RopeSpec& rope : spec.ropes) angles.push_back(angles_of(rope, positions, x.dtype()));
  const Layer layer{spec, angles, attend, activation};
  for (std::size_t i = 0; i < spec.layers.size(); ++i) x = layer(i, x, weights.layers[i]);
  return norm(x, spec.norm, weights.norm);
}

Val logits_of(const DecoderSpec& spec, const WeightVals& weights, Val hidden,
              ops::Activation activation) {
  Val y = product(hidden, weights.head ? *weights.head : weights.embedding, activation);
  if (spec.logit_factor != 1) y = y * spec.logit_factor;
  if (spec.logit_cap > 0) y = ops::tanh(y / spec.logit_cap) * spec.logit_cap;
  return y;
}

Val logits(const DecoderSpec& spec, const WeightVals& weights, Val ids) {
  const Val positions = ops::iota(Type::get(DType::i32, {ids.dim(1)}), 0);
  const Attend attend = [&](std::size_t layer, Val q, Val k, Val v) {
    const AttentionSpec& a = spec.layers[layer].attention;
    const std::int64_t heads_first[] = {0, 2, 1, 3};
    const ops::AttentionParams params{
        .causal = true, .scale = a.scale, .window = a.window, .soft_cap = a.soft_cap};
    const Val o = ops::attention(ops::transpose(q, heads_first), ops::transpose(k, heads_first),
                                 ops::transpose(v, heads_first), {}, params);
    return ops::transpose(o, heads_first);
  };
  return logits_of(spec, weights, hidden(spec, weights, ids, positions, attend));
}

Array logits(const DecoderSpec& spec, const Weights& weights, const Array& ids, Where where) {
  std::vector<core::Ref> operands{ids.ref()};
  each_leaf(weights, [&](const Array& w) { operands.push_back(w.ref()); });
  const auto emit = [&](std::span<const Val> in) {
    std::size_t next = 1;
    return logits(spec, map_leaves<Val>(weights, [&](const Array&) { return in[next++]; }), in[0]);
  };
  return Array(core::apply({"llm::logits", where}, operands, core::AxesSpec{}, emit));
}

}  // namespace tlaloc::llm
