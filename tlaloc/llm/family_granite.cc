// Granite 3 (IBM, 2024): Llama with four multipliers.
#include "tlaloc/llm/family.h"

namespace tlaloc::llm {

Decoder read_granite(Config& c, std::int64_t used) {
  const Sizes s = read_sizes(c, {.vocabulary = 32000,
                                 .width = 4096,
                                 .mlp_width = 11008,
                                 .layers = 32,
                                 .heads = 32,
                                 .context = 2048});
  Decoder d{plain_decoder("granite", s, read_activation(c, "hidden_act", "silu")), {}};
  add_rope_to_all(c, s, used, d.spec);
  d.spec.embedding_factor = c.positive("embedding_multiplier", 1.0);
  d.spec.logit_factor = 1 / c.positive("logits_scaling", 1.0);
  const double scale = c.positive("attention_multiplier", 1.0);
  const double residual = c.positive("residual_multiplier", 1.0);
  for (LayerSpec& l : d.spec.layers) {
    l.attention.scale = scale;
    l.residual_factor = residual;
  }
  const bool attention = c.flag("attention_bias", false);
  d.sources = weight_names(d.spec, s.tied, {attention, attention, c.flag("mlp_bias", false)});
  c.ignore({"pretraining_tp"});
  return d;
}

}  // namespace tlaloc::llm
