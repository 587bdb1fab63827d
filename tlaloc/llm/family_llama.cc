// Llama 1 to 3 (Touvron et al., 2023; Dubey et al., 2024), and the many that are built alike,
// SmolLM2 among them.
#include "tlaloc/llm/family.h"

namespace tlaloc::llm {

Decoder read_llama(Config& c, std::int64_t used) {
  const Sizes s = read_sizes(c, {.vocabulary = 32000,
                                 .width = 4096,
                                 .mlp_width = 11008,
                                 .layers = 32,
                                 .heads = 32,
                                 .context = 2048});
  Decoder d{plain_decoder("llama", s, read_activation(c, "hidden_act", "silu")), {}};
  add_rope_to_all(c, s, used, d.spec);
  const bool attention = c.flag("attention_bias", false);
  d.sources = weight_names(d.spec, s.tied, {attention, attention, c.flag("mlp_bias", false)});
  // How weights were split in training; what they compute is the same.
  c.ignore({"pretraining_tp", "is_llama_config"});
  if (c.flag("rope_interleaved", false)) c.refuse("rope_interleaved", "it must be false");
  return d;
}

}  // namespace tlaloc::llm
