// Phi-3 and Phi-4 (Abdin et al., 2024): projections in one tensor, LongRoPE, and positions in a
// part of each head.
#include "tlaloc/llm/family.h"

namespace tlaloc::llm {
namespace {

/// Rows of a tensor that several weights share.
void fuse(std::string_view layer, std::string_view name, std::initializer_list<Source*> parts) {
  std::int64_t rows = 0;
  for (Source* s : parts) {
    s->tensor = std::string(layer) + std::string(name);
    s->first_row = rows;
    rows += s->shape[0];
  }
  for (Source* s : parts) s->tensor_rows = rows;
}

}  // namespace

Decoder read_phi3(Config& c, std::int64_t used) {
  const Sizes s = read_sizes(c, {.vocabulary = 32064,
                                 .width = 3072,
                                 .mlp_width = 8192,
                                 .layers = 32,
                                 .heads = 32,
                                 .context = 4096,
                                 .epsilon = 1e-5});
  Decoder d{plain_decoder("phi3", s, read_activation(c, "hidden_act", "silu")), {}};
  RopeParameters rope = rope_parameters(c);
  // It stands beside the parameters, and says something only for this kind of them.
  const std::int64_t first = c.size("original_max_position_embeddings", 4096, kMostContext);
  for (const char* key : {"type", "rope_type"}) {
    const boost::json::value* type = rope.values.if_contains(key);
    if (type != nullptr && (*type == "longrope" || *type == "su")) {
      rope.values["original_max_position_embeddings"] = first;
      rope.elsewhere.emplace("original_max_position_embeddings",
                             "original_max_position_embeddings");
    }
  }
  const int all = add_rope(c, rope, s, used, d.spec);
  const std::int64_t window =
      c.has("sliding_window") ? c.size("sliding_window", {}, kMostContext) : 0;
  for (LayerSpec& l : d.spec.layers) {
    l.attention.rope = all;
    l.attention.window = window;
  }
  d.sources = weight_names(d.spec, s.tied);
  for (std::size_t i = 0; i < d.sources.layers.size(); ++i) {
    LayerOf<Source>& l = d.sources.layers[i];
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    fuse(layer, "self_attn.qkv_proj.weight",
         {&l.attention.query.weight, &l.attention.key.weight, &l.attention.value.weight});
    fuse(layer, "mlp.gate_up_proj.weight", {&l.mlp.gate.weight, &l.mlp.up.weight});
  }
  c.ignore({"resid_pdrop", "embd_pdrop"});
  for (const char* key : {"attention_bias", "mlp_bias", "lm_head_bias"}) {
    if (c.flag(key, false)) c.refuse(key, "it must be false");
  }
  for (const char* key : {"full_attn_mod", "interpolate_factor"}) {
    if (c.size(key, 1) != 1) c.refuse(key, "it must be 1");
  }
  return d;
}

}  // namespace tlaloc::llm
