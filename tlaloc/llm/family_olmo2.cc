// OLMo 2 (OLMo Team, 2024): norms behind each part, not before, and one norm for all heads.
#include <utility>

#include "tlaloc/llm/family.h"

namespace tlaloc::llm {

Decoder read_olmo2(Config& c, std::int64_t used) {
  const Sizes s = read_sizes(c, {.vocabulary = 50304,
                                 .width = 4096,
                                 .mlp_width = 11008,
                                 .layers = 32,
                                 .heads = 32,
                                 .context = 2048,
                                 .epsilon = 1e-5});
  Decoder d{plain_decoder("olmo2", s, read_activation(c, "hidden_act", "silu")), {}};
  add_rope_to_all(c, s, used, d.spec);
  for (LayerSpec& l : d.spec.layers) {
    l.attention_output_norm = std::exchange(l.attention_norm, std::nullopt);
    l.mlp_output_norm = std::exchange(l.mlp_norm, std::nullopt);
    l.attention.head_norm = HeadNorm::all;
    l.attention.head_norm_spec = d.spec.norm;
  }
  const bool biases = c.flag("attention_bias", false);
  d.sources = weight_names(d.spec, s.tied, {biases, biases});
  return d;
}

}  // namespace tlaloc::llm
