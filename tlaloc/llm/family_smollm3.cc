// SmolLM3 (Bakouch et al., 2025): Llama with layers that know no positions (NoPE).
#include "tlaloc/llm/family.h"

namespace tlaloc::llm {
namespace {

std::vector<bool> layers_with_rope(Config& c, std::int64_t layers) {
  std::vector<bool> with;
  const std::int64_t interval = c.size("no_rope_layer_interval", 4);
  const boost::json::array* listed = c.list("no_rope_layers");
  if (listed == nullptr) {
    for (std::int64_t i = 0; i < layers; ++i) with.push_back((i + 1) % interval != 0);
    return with;
  }
  for (const boost::json::value& v : *listed) {
    if (v != 0 && v != 1) c.contradict("no_rope_layers", "it must be a list of 0 and 1");
    with.push_back(v == 1);
  }
  if (static_cast<std::int64_t>(with.size()) < layers) {
    c.contradict("no_rope_layers", "it must have a number for each layer");
  }
  return with;
}

}  // namespace

Decoder read_smollm3(Config& c, std::int64_t used) {
  const Sizes s = read_sizes(c, {.vocabulary = 128256,
                                 .width = 2048,
                                 .mlp_width = 11008,
                                 .layers = 36,
                                 .heads = 16,
                                 .kv_heads = 4,
                                 .context = 32768,
                                 .tied = true});
  Decoder d{plain_decoder("smollm3", s, read_activation(c, "hidden_act", "silu")), {}};
  add_rope_to_all(c, s, used, d.spec, 2000000);
  const std::vector<bool> with_rope = layers_with_rope(c, s.layers);
  for (std::size_t i = 0; i < d.spec.layers.size(); ++i) {
    if (!with_rope[i]) d.spec.layers[i].attention.rope.reset();
  }
  // A size that is not used need not be one.
  c.ignore({"sliding_window"});
  const bool windows = c.flag("use_sliding_window", false) && c.has("sliding_window");
  const std::int64_t window = windows ? c.size("sliding_window", {}, kMostContext) : 0;
  const auto sliding = sliding_layers(c, s.layers, [&](std::int64_t i) {
    return windows && !with_rope[static_cast<std::size_t>(i)];
  });
  add_windows(c, sliding, window, d.spec);
  const bool attention = c.flag("attention_bias", false);
  d.sources = weight_names(d.spec, s.tied, {attention, attention, c.flag("mlp_bias", false)});
  c.ignore({"pretraining_tp", "max_window_layers"});
  return d;
}

}  // namespace tlaloc::llm
