// Models for tests: made in memory, with weights by a formula.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "tlaloc/lang/node.h"
#include "tlaloc/llm/leaves.h"
#include "tlaloc/llm/model.h"

namespace tlaloc::llm {

struct TinyShape {
  std::int64_t vocabulary = 50, width = 24, inner = 40, heads = 4, kv_heads = 2, head_width = 8;
  int layers = 3;
};

inline DecoderSpec tiny_spec(const TinyShape& shape = {}) {
  DecoderSpec spec;
  spec.family = "tiny";
  spec.vocabulary = shape.vocabulary;
  spec.width = shape.width;
  spec.context = 64;
  spec.norm = {1e-6, false};
  RopeSpec rope;
  for (std::int64_t i = 0; i < shape.head_width / 2; ++i) {
    rope.frequencies.push_back(
        std::pow(10000.0f, -2.0f * static_cast<float>(i) / static_cast<float>(shape.head_width)));
  }
  spec.ropes = {rope};
  LayerSpec layer;
  layer.attention.heads = shape.heads;
  layer.attention.kv_heads = shape.kv_heads;
  layer.attention.width = shape.head_width;
  layer.attention.scale = 1 / std::sqrt(static_cast<double>(shape.head_width));
  layer.attention.rope = 0;
  layer.mlp.width = shape.inner;
  layer.attention_norm = layer.mlp_norm = spec.norm;
  spec.layers.assign(static_cast<std::size_t>(shape.layers), layer);
  return spec;
}

/// The weights that a spec without norms of heads, gates and biases has, by their shapes.
inline WeightsOf<Extents> tiny_shapes(const DecoderSpec& spec) {
  WeightsOf<Extents> w;
  w.embedding = {spec.vocabulary, spec.width};
  w.norm = {spec.width};
  for (const LayerSpec& l : spec.layers) {
    LayerOf<Extents> s;
    s.attention_norm = s.mlp_norm = Extents{spec.width};
    const std::int64_t q = l.attention.heads * l.attention.width,
                       kv = l.attention.kv_heads * l.attention.width;
    s.attention.query.weight = {q, spec.width};
    s.attention.key.weight = s.attention.value.weight = {kv, spec.width};
    s.attention.output.weight = {spec.width, q};
    s.mlp.gate.weight = s.mlp.up.weight = {l.mlp.width, spec.width};
    s.mlp.down.weight = {spec.width, l.mlp.width};
    w.layers.push_back(std::move(s));
  }
  return w;
}

/// Numbers around 0, of a size that keeps products near 1; norms around 1.
inline Array tiny_weight(const Extents& shape, std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  const float size = shape.size() == 1 ? 0.2f : 1 / std::sqrt(static_cast<float>(shape.back()));
  std::uint32_t state = seed * 2654435761u + 12345u;
  for (float& v : values) {
    state = state * 1664525u + 1013904223u;
    v = size * (static_cast<float>(state >> 8) / 8388608.0f - 1) * 1.7f +
        (shape.size() == 1 ? 1.0f : 0.0f);
  }
  return Array(core::make_concrete(HostArray::from<float>(values, shape)));
}

inline std::shared_ptr<Model> tiny_model(const DecoderSpec& spec) {
  auto model = std::make_shared<Model>();
  model->checkpoint.decoder.spec = spec;
  std::uint32_t seed = 1;
  model->weights = map_leaves<Array>(
      tiny_shapes(spec), [&](const Extents& shape) { return tiny_weight(shape, seed++); });
  return model;
}

}  // namespace tlaloc::llm
