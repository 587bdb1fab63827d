// Muse Glimmer, its text part: normed embeddings, heads normed without weights, gated attention,
// norms before and behind each part, and every fourth layer without window and positions.
#include <boost/json/array.hpp>

#include "tlaloc/llm/family.h"

namespace tlaloc::llm {
namespace {

/// Every fourth layer, counted from the last, sees everything.
bool is_full(std::int64_t layer, std::int64_t layers) { return (layers - 1 - layer) % 4 == 0; }

/// By layer_rope_theta: 0 for a layer without positions.
void add_positions(Config& c, const boost::json::object& rope, DecoderSpec& spec) {
  const auto layers = static_cast<std::int64_t>(spec.layers.size());
  const boost::json::array* bases = c.list("layer_rope_theta");
  if (bases != nullptr && static_cast<std::int64_t>(bases->size()) != layers) {
    c.contradict("layer_rope_theta", "it must have a number for each layer");
  }
  const boost::json::value* given = rope.if_contains("rope_theta");
  const double base = given == nullptr || !given->is_number() ? 10000 : given->to_number<double>();
  for (std::int64_t i = 0; i < layers; ++i) {
    bool turned = !is_full(i, layers);
    if (bases != nullptr) {
      const boost::json::value& v = (*bases)[static_cast<std::size_t>(i)];
      turned = v != 0 && v != 0.0;
      if (turned && (!v.is_number() || v.to_number<double>() != base)) {
        c.refuse("layer_rope_theta", "supported: 0, and the base of rope_parameters");
      }
    }
    if (turned) spec.layers[static_cast<std::size_t>(i)].attention.rope = 0;
  }
}

}  // namespace

Decoder read_muse_glimmer_text(Config& c, std::int64_t used) {
  const Sizes s = read_sizes(c, {.vocabulary = 202048,
                                 .width = 6656,
                                 .mlp_width = 19968,
                                 .layers = 52,
                                 .heads = 32,
                                 .kv_heads = 2,
                                 .head_width = 128,
                                 .context = 131072,
                                 .epsilon = 1e-5});
  Decoder d{plain_decoder("muse_glimmer", s, read_activation(c, "hidden_activation", "silu")), {}};
  DecoderSpec& spec = d.spec;
  spec.embedding_norm = s.epsilon;
  spec.logit_factor = c.positive("output_multiplier", 0.19611613513818404);
  spec.logit_cap = c.positive("final_logit_softcapping", 20.0);
  const NormSpec before{s.epsilon, true}, behind{c.positive("post_norm_eps", 1e-8), true};
  const double factor = c.positive("qk_scale_factor", 3.87);
  for (LayerSpec& l : spec.layers) {
    l.attention.head_norm = HeadNorm::weightless;
    l.attention.head_norm_spec.epsilon = s.epsilon;
    l.attention.query_factor = factor;
    l.attention.gated = true;
    l.attention_norm = l.mlp_norm = before;
    l.attention_output_norm = l.mlp_output_norm = behind;
  }
  const RopeParameters rope = rope_parameters(c);
  add_rope(c, rope, s, used, spec);
  if (static_cast<std::int64_t>(spec.ropes[0].frequencies.size()) * 2 != s.head_width) {
    c.refuse("rope_parameters", "whole heads are turned: partial_rotary_factor must be 1");
  }
  add_positions(c, rope.values, spec);
  const std::int64_t window =
      c.is_null("sliding_window") ? 0 : c.size("sliding_window", 2048, kMostContext);
  add_windows(c, sliding_layers(c, s.layers, [&](std::int64_t i) { return !is_full(i, s.layers); }),
              window, spec);
  const bool biases = c.flag("attention_bias", false);
  d.sources = weight_names(spec, s.tied, {biases, biases});
  return d;
}

Decoder read_muse_glimmer(Config& c, std::int64_t used) {
  c.ignore({"vision_config", "image_token_id", "video_token_id", "out_hidden_size",
            "projector_hidden_size", "projector_hidden_act"});
  Decoder d = read_text_part(c, used, read_muse_glimmer_text);
  if (c.flag("tie_word_embeddings", !d.sources.head) != !d.sources.head) {
    c.contradict("tie_word_embeddings", "text_config says another value");
  }
  return d;
}

}  // namespace tlaloc::llm
