// Gemma 2 (Gemma Team, 2024): norms around zero before and behind each part, capped scores and
// logits, every other layer with a window. Gemma 3 (2025): normed heads in the place of caps, and
// an embedding of positions for each kind of layer.
#include <cmath>
#include <utility>

#include "tlaloc/llm/family.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;

DecoderSpec read_both(std::string_view family, Config& c, const Sizes& s) {
  DecoderSpec spec =
      plain_decoder(family, s, read_activation(c, "hidden_activation", "gelu_pytorch_tanh"));
  spec.norm.around_zero = true;
  spec.embedding_factor = std::sqrt(static_cast<double>(s.width));
  const double scale = 1 / std::sqrt(c.positive("query_pre_attn_scalar", 256.0));
  for (LayerSpec& l : spec.layers) {
    l.attention.scale = scale;
    l.attention_norm = l.attention_output_norm = l.mlp_norm = l.mlp_output_norm = spec.norm;
  }
  if (c.flag("use_bidirectional_attention", false)) {
    c.refuse("use_bidirectional_attention", "only decoders are supported");
  }
  // What older files say beside hidden_activation, and transformers does not read.
  c.ignore({"hidden_act"});
  return spec;
}

std::int64_t read_window(Config& c) {
  return c.is_null("sliding_window") ? 0 : c.size("sliding_window", 4096, kMostContext);
}
/// 0 where it is null: no cap.
double read_cap(Config& c, std::string_view key, double otherwise) {
  return c.is_null(key) || (otherwise == 0 && !c.has(key)) ? 0 : c.positive(key, otherwise);
}
WeightsOf<Source> names(Config& c, const DecoderSpec& spec, const Sizes& s) {
  const bool biases = c.flag("attention_bias", false);
  return weight_names(spec, s.tied, {biases, biases});
}

/// The parameters of layers with and without window.
struct TwoRopes {
  RopeParameters sliding, full;
};
TwoRopes read_ropes(Config& c) {
  TwoRopes r;
  const json::object* five = c.object("rope_parameters");
  if (five != nullptr) {
    Config both = c.part(*five, "rope_parameters");
    for (const auto& [key, to] :
         {std::pair("sliding_attention", &r.sliding), std::pair("full_attention", &r.full)}) {
      if (const json::object* o = both.object(key)) to->values = *o;
      to->path += std::string(".") + key;
    }
    both.finish();
  } else {
    r.full = rope_parameters(c);
  }
  if (const json::value* base = c.find("rope_local_base_freq")) {
    if (five != nullptr) c.contradict("rope_local_base_freq", "rope_parameters says it too");
    r.sliding.values["rope_theta"] = *base;
    r.sliding.elsewhere.emplace("rope_theta", "rope_local_base_freq");
  }
  return r;
}

}  // namespace

Decoder read_gemma2(Config& c, std::int64_t used) {
  const Sizes s = read_sizes(c, {.vocabulary = 256000,
                                 .width = 2304,
                                 .mlp_width = 9216,
                                 .layers = 26,
                                 .heads = 8,
                                 .kv_heads = 4,
                                 .head_width = 256,
                                 .context = 8192,
                                 .tied = true});
  Decoder d{read_both("gemma2", c, s), {}};
  add_rope_to_all(c, s, used, d.spec);
  add_windows(c, sliding_layers(c, s.layers, [](std::int64_t i) { return i % 2 == 0; }),
              read_window(c), d.spec);
  const double cap = read_cap(c, "attn_logit_softcapping", 50);
  for (LayerSpec& l : d.spec.layers) l.attention.soft_cap = cap;
  d.spec.logit_cap = read_cap(c, "final_logit_softcapping", 30);
  d.sources = names(c, d.spec, s);
  return d;
}

Decoder read_gemma3_text(Config& c, std::int64_t used) {
  const Sizes s = read_sizes(c, {.vocabulary = 262208,
                                 .width = 2304,
                                 .mlp_width = 9216,
                                 .layers = 26,
                                 .heads = 8,
                                 .kv_heads = 4,
                                 .head_width = 256,
                                 .context = 131072,
                                 .tied = true});
  Decoder d{read_both("gemma3_text", c, s), {}};
  const std::int64_t pattern =
      c.size("sliding_window_pattern", c.size("_sliding_window_pattern", 6));
  const std::vector<bool> sliding =
      sliding_layers(c, s.layers, [&](std::int64_t i) { return (i + 1) % pattern != 0; });
  add_windows(c, sliding, read_window(c), d.spec);
  const TwoRopes ropes = read_ropes(c);
  const int local = add_rope(c, ropes.sliding, s, used, d.spec, 10000);
  const int global = add_rope(c, ropes.full, s, used, d.spec, 1000000);
  for (std::size_t i = 0; i < d.spec.layers.size(); ++i) {
    AttentionSpec& a = d.spec.layers[i].attention;
    a.rope = sliding[i] ? local : global;
    a.head_norm = HeadNorm::each;
    a.head_norm_spec = d.spec.norm;
  }
  if (c.has("attn_logit_softcapping")) {
    c.refuse("attn_logit_softcapping", "this family has no cap of scores");
  }
  d.spec.logit_cap = read_cap(c, "final_logit_softcapping", 0);
  d.sources = names(c, d.spec, s);
  return d;
}

Decoder read_gemma3(Config& c, std::int64_t used) {
  c.ignore({"vision_config", "mm_tokens_per_image", "boi_token_index", "eoi_token_index",
            "image_token_index", "boi_token_id", "eoi_token_id", "image_token_id"});
  Decoder d = read_text_part(c, used, read_gemma3_text);
  if (c.flag("tie_word_embeddings", true) != !d.sources.head) {
    c.contradict("tie_word_embeddings", "text_config says another value");
  }
  return d;
}

}  // namespace tlaloc::llm
