// Mistral 7B (Jiang et al., 2023) and those built alike: all layers have a window, or none.
#include "tlaloc/llm/family.h"

namespace tlaloc::llm {

Decoder read_mistral(Config& c, std::int64_t used) {
  const Sizes s = read_sizes(c, {.vocabulary = 32000,
                                 .width = 4096,
                                 .mlp_width = 14336,
                                 .layers = 32,
                                 .heads = 32,
                                 .kv_heads = 8,
                                 .context = 131072});
  Decoder d{plain_decoder("mistral", s, read_activation(c, "hidden_act", "silu")), {}};
  add_rope_to_all(c, s, used, d.spec);
  if (!c.is_null("sliding_window")) {
    const std::int64_t window = c.size("sliding_window", 4096, kMostContext);
    for (LayerSpec& l : d.spec.layers) l.attention.window = window;
  }
  d.sources = weight_names(d.spec, s.tied);
  return d;
}

}  // namespace tlaloc::llm
