// What must hold of any decoder that was read, for fuzz targets.
#pragma once

#include <cmath>
#include <cstdlib>

#include "tlaloc/llm/checkpoint.h"
#include "tlaloc/llm/leaves.h"

namespace tlaloc::llm {

inline void check(bool condition) {
  if (!condition) std::abort();
}
inline void check_norm(const std::optional<NormSpec>& norm, const std::optional<Source>& weight) {
  check(norm.has_value() == weight.has_value());
  check(!norm || (norm->epsilon > 0 && std::isfinite(norm->epsilon)));
}

inline void check_decoder(const Decoder& d) {
  const DecoderSpec& s = d.spec;
  check(!s.family.empty() && s.vocabulary > 0 && s.width > 0 && s.context > 0);
  check(!s.layers.empty() && s.layers.size() == d.sources.layers.size());
  check(std::isfinite(s.embedding_factor) && std::isfinite(s.logit_factor) && s.logit_cap >= 0);
  for (const RopeSpec& r : s.ropes) {
    check(!r.frequencies.empty() && std::isfinite(r.factor));
    for (const float f : r.frequencies) check(std::isfinite(f) && f >= 0);
  }
  for (std::size_t i = 0; i < s.layers.size(); ++i) {
    const AttentionSpec& a = s.layers[i].attention;
    const LayerOf<Source>& w = d.sources.layers[i];
    check(a.heads > 0 && a.kv_heads > 0 && a.heads % a.kv_heads == 0 && a.width > 0);
    check(a.window >= 0 && a.soft_cap >= 0 && a.scale > 0 && std::isfinite(a.scale));
    check(w.attention.query.weight.shape[0] == a.heads * a.width);
    check(w.attention.gate.has_value() == a.gated);
    check(w.attention.query_norm.has_value() ==
          (a.head_norm == HeadNorm::each || a.head_norm == HeadNorm::all));
    check_norm(s.layers[i].attention_norm, w.attention_norm);
    check_norm(s.layers[i].attention_output_norm, w.attention_output_norm);
    check_norm(s.layers[i].mlp_norm, w.mlp_norm);
    check_norm(s.layers[i].mlp_output_norm, w.mlp_output_norm);
    if (!a.rope) continue;
    check(*a.rope >= 0 && static_cast<std::size_t>(*a.rope) < s.ropes.size());
    const auto turned = s.ropes[static_cast<std::size_t>(*a.rope)].frequencies.size();
    check(static_cast<std::int64_t>(2 * turned) <= a.width);
  }
  each_leaf(d.sources, [](const Source& w) {
    check(!w.tensor.empty() && !w.shape.empty());
    for (const std::int64_t n : w.shape) check(n > 0);
    check(w.tensor_rows == 0 || w.first_row + w.shape[0] <= w.tensor_rows);
    std::int64_t elements = 1;
    for (const std::int64_t n : w.shape) check(!__builtin_mul_overflow(elements, n, &elements));
  });
}

}  // namespace tlaloc::llm
