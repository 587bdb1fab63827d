// Qwen 2 and 2.5 (Yang et al., 2024): biases on what attention reads, and windows in later layers.
// Qwen 3 (Yang et al., 2025): each head's queries and keys are normed instead.
#include <cmath>

#include "tlaloc/llm/family.h"

namespace tlaloc::llm {
namespace {

constexpr Sizes kQwen2 = {.vocabulary = 151936,
                          .width = 4096,
                          .mlp_width = 22016,
                          .layers = 32,
                          .heads = 32,
                          .kv_heads = 32,
                          .context = 32768};

DecoderSpec read_both(std::string_view family, Config& c, std::int64_t used, const Sizes& s) {
  DecoderSpec spec = plain_decoder(family, s, read_activation(c, "hidden_act", "silu"));
  add_rope_to_all(c, s, used, spec);
  // A size that is not used need not be one.
  c.ignore({"sliding_window"});
  const bool windows = c.flag("use_sliding_window", false) && !c.is_null("sliding_window");
  const std::int64_t window = windows ? c.size("sliding_window", 4096, kMostContext) : 0;
  // 0 for windows in all layers.
  const std::optional<double> first = c.number("max_window_layers");
  if (first && (*first < 0 || *first != std::trunc(*first))) {
    c.contradict("max_window_layers", "it must be a number of layers");
  }
  add_windows(c,
              sliding_layers(c, s.layers,
                             [&](std::int64_t i) {
                               return window > 0 && static_cast<double>(i) >= first.value_or(28);
                             }),
              window, spec);
  if (c.flag("use_mrope", false)) c.refuse("use_mrope", "it must be false");
  return spec;
}

}  // namespace

Decoder read_qwen2(Config& c, std::int64_t used) {
  const Sizes s = read_sizes(c, kQwen2);
  Decoder d{read_both("qwen2", c, used, s), {}};
  d.sources = weight_names(d.spec, s.tied, {.inputs = true});
  return d;
}

Decoder read_qwen3(Config& c, std::int64_t used) {
  Sizes otherwise = kQwen2;
  otherwise.head_width = 128;
  const Sizes s = read_sizes(c, otherwise);
  Decoder d{read_both("qwen3", c, used, s), {}};
  for (LayerSpec& l : d.spec.layers) {
    l.attention.head_norm = HeadNorm::each;
    l.attention.head_norm_spec = d.spec.norm;
  }
  const bool biases = c.flag("attention_bias", false);
  d.sources = weight_names(d.spec, s.tied, {biases, biases});
  return d;
}

}  // namespace tlaloc::llm
