// Walks over trees of weights of any kind of leaf, in one order. Internal to llm: the public API
// has trees of its own (lang/tree.h), which want leaves that are tensors.
#pragma once

#include <optional>

#include "tlaloc/llm/weights.h"

namespace tlaloc::llm {

/// A tree of `To` with the structure of `x`: f(leaf) for each of its leaves, in order.
template <class To, class From, class F>
std::optional<To> map_leaves(const std::optional<From>& x, F&& f) {
  if (!x) return std::nullopt;
  return f(*x);
}
template <class To, class From, class F>
LinearOf<To> map_leaves(const LinearOf<From>& x, F&& f) {
  To weight = f(x.weight);
  return {std::move(weight), map_leaves<To>(x.bias, f)};
}
template <class To, class From, class F>
AttentionOf<To> map_leaves(const AttentionOf<From>& x, F&& f) {
  AttentionOf<To> r;
  r.query = map_leaves<To>(x.query, f);
  r.key = map_leaves<To>(x.key, f);
  r.value = map_leaves<To>(x.value, f);
  r.output = map_leaves<To>(x.output, f);
  r.query_norm = map_leaves<To>(x.query_norm, f);
  r.key_norm = map_leaves<To>(x.key_norm, f);
  if (x.gate) r.gate = map_leaves<To>(*x.gate, f);
  return r;
}
template <class To, class From, class F>
MlpOf<To> map_leaves(const MlpOf<From>& x, F&& f) {
  MlpOf<To> r;
  r.gate = map_leaves<To>(x.gate, f);
  r.up = map_leaves<To>(x.up, f);
  r.down = map_leaves<To>(x.down, f);
  return r;
}
template <class To, class From, class F>
LayerOf<To> map_leaves(const LayerOf<From>& x, F&& f) {
  LayerOf<To> r;
  r.attention_norm = map_leaves<To>(x.attention_norm, f);
  r.attention_output_norm = map_leaves<To>(x.attention_output_norm, f);
  r.mlp_norm = map_leaves<To>(x.mlp_norm, f);
  r.mlp_output_norm = map_leaves<To>(x.mlp_output_norm, f);
  r.attention = map_leaves<To>(x.attention, f);
  r.mlp = map_leaves<To>(x.mlp, f);
  return r;
}
template <class To, class From, class F>
WeightsOf<To> map_leaves(const WeightsOf<From>& x, F&& f) {
  WeightsOf<To> r;
  r.embedding = f(x.embedding);
  for (const LayerOf<From>& layer : x.layers) r.layers.push_back(map_leaves<To>(layer, f));
  r.norm = f(x.norm);
  r.head = map_leaves<To>(x.head, f);
  return r;
}

/// f(linear) for each linear map of a layer.
template <class Layer, class F>
void each_linear(Layer& l, F&& f) {
  for (auto* linear : {&l.attention.query, &l.attention.key, &l.attention.value,
                       &l.attention.output, &l.mlp.gate, &l.mlp.up, &l.mlp.down}) {
    f(*linear);
  }
  if (l.attention.gate) f(*l.attention.gate);
}

/// f(leaf) for each leaf, in the same order.
template <class Leaf, class F>
void each_leaf(const WeightsOf<Leaf>& x, F&& f) {
  struct Nothing {};
  map_leaves<Nothing>(x, [&](const Leaf& leaf) {
    f(leaf);
    return Nothing{};
  });
}

}  // namespace tlaloc::llm
