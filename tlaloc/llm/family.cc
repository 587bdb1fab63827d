#include "tlaloc/llm/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tlaloc::llm {

Sizes read_sizes(Config& c, const Sizes& o) {
  Sizes s;
  s.vocabulary = c.size("vocab_size", o.vocabulary, std::int64_t{1} << 24);
  s.width = c.size("hidden_size", o.width);
  s.mlp_width = c.size("intermediate_size", o.mlp_width);
  s.layers = c.size("num_hidden_layers", o.layers, kMostLayers);
  s.heads = c.size("num_attention_heads", o.heads);
  const bool as_many = o.kv_heads == 0 || c.is_null("num_key_value_heads");
  s.kv_heads = c.size("num_key_value_heads", as_many ? s.heads : o.kv_heads);
  const bool derived = o.head_width == 0 || c.is_null("head_dim");
  if (derived && !c.has("head_dim") && s.width % s.heads != 0) {
    c.contradict("num_attention_heads", fmt::format("it must divide hidden_size, {}", s.width));
  }
  s.head_width = c.size("head_dim", derived ? s.width / s.heads : o.head_width);
  s.context = c.size("max_position_embeddings", o.context, kMostContext);
  s.epsilon = c.positive("rms_norm_eps", o.epsilon);
  s.tied = c.flag("tie_word_embeddings", o.tied);
  if (s.heads % s.kv_heads != 0) {
    c.contradict("num_key_value_heads",
                 fmt::format("it must divide num_attention_heads, {}", s.heads));
  }
  if (s.heads * s.head_width > kMostSize) {
    c.contradict("num_attention_heads",
                 fmt::format("heads of {} elements each are too many", s.head_width));
  }
  return s;
}

MlpActivation read_activation(Config& c, std::string_view key, std::string_view otherwise) {
  const std::string name = c.text(key, otherwise);
  if (name == "silu" || name == "swish") return MlpActivation::silu;
  if (name == "gelu") return MlpActivation::gelu;
  if (name == "gelu_pytorch_tanh" || name == "gelu_new") return MlpActivation::gelu_tanh;
  c.refuse(key, "supported: silu, gelu, gelu_pytorch_tanh");
}

DecoderSpec plain_decoder(std::string_view family, const Sizes& s, MlpActivation activation) {
  DecoderSpec d;
  d.family = family;
  d.vocabulary = s.vocabulary;
  d.width = s.width;
  d.context = s.context;
  d.norm.epsilon = s.epsilon;
  LayerSpec layer;
  layer.attention.heads = s.heads;
  layer.attention.kv_heads = s.kv_heads;
  layer.attention.width = s.head_width;
  layer.attention.scale = 1 / std::sqrt(static_cast<double>(s.head_width));
  layer.mlp = {s.mlp_width, activation};
  layer.attention_norm = layer.mlp_norm = d.norm;
  d.layers.assign(static_cast<std::size_t>(s.layers), layer);
  return d;
}

int add_rope(const Config& c, const RopeParameters& all, const Sizes& s, std::int64_t used,
             DecoderSpec& spec, double theta) {
  Config parameters = c.part(all.values, all.path, all.elsewhere);
  RopeRequest request{s.head_width, theta, s.context, used};
  spec.ropes.push_back(read_rope(parameters, request));
  spec.context = std::max(spec.context, request.context);
  return static_cast<int>(spec.ropes.size()) - 1;
}

void add_rope_to_all(Config& c, const Sizes& s, std::int64_t used, DecoderSpec& spec,
                     double theta) {
  const int rope = add_rope(c, rope_parameters(c), s, used, spec, theta);
  for (LayerSpec& layer : spec.layers) layer.attention.rope = rope;
}

std::vector<bool> listed_sliding_layers(Config& c, std::int64_t layers) {
  const boost::json::array* types = c.list("layer_types");
  if (types == nullptr || static_cast<std::int64_t>(types->size()) != layers) {
    c.contradict("layer_types", fmt::format("there must be a type for each of {} layers", layers));
  }
  std::vector<bool> sliding;
  for (const boost::json::value& type : *types) {
    sliding.push_back(type == "sliding_attention");
    if (type != "sliding_attention" && type != "full_attention") {
      c.refuse("layer_types", "supported: full_attention, sliding_attention");
    }
  }
  return sliding;
}

void add_windows(Config& c, const std::vector<bool>& sliding, std::int64_t window,
                 DecoderSpec& spec) {
  for (std::size_t i = 0; i < sliding.size(); ++i) {
    if (!sliding[i]) continue;
    if (window == 0) {
      c.contradict("sliding_window",
                   fmt::format("layer {} has a window: it must say of what size", i));
    }
    spec.layers[i].attention.window = window;
  }
}

WeightsOf<Source> weight_names(const DecoderSpec& spec, bool tied, const Biases& biases) {
  WeightsOf<Source> w;
  w.embedding = {"model.embed_tokens.weight", {spec.vocabulary, spec.width}};
  w.norm = {"model.norm.weight", {spec.width}};
  if (!tied) w.head = Source{"lm_head.weight", {spec.vocabulary, spec.width}};
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    const LayerSpec& l = spec.layers[i];
    const AttentionSpec& a = l.attention;
    const std::string layer = fmt::format("model.layers.{}.", i);
    auto linear = [&](const char* name, std::int64_t out, std::int64_t in, bool bias) {
      LinearOf<Source> result{{layer + name + ".weight", {out, in}}, {}};
      if (bias) result.bias = Source{layer + name + ".bias", {out}};
      return result;
    };
    auto norm = [&](bool there, const char* name, std::int64_t size) -> std::optional<Source> {
      if (!there) return std::nullopt;
      return Source{layer + name + ".weight", {size}};
    };
    const bool sandwich = l.attention_output_norm || l.mlp_output_norm;
    const std::int64_t q = a.heads * a.width, kv = a.kv_heads * a.width;
    LayerOf<Source> s;
    s.attention_norm = norm(l.attention_norm.has_value(), "input_layernorm", spec.width);
    s.attention_output_norm =
        norm(l.attention_output_norm.has_value(), "post_attention_layernorm", spec.width);
    // Where nothing follows attention, the norm before the MLP has the name of the one behind it.
    s.mlp_norm =
        norm(l.mlp_norm.has_value(),
             sandwich ? "pre_feedforward_layernorm" : "post_attention_layernorm", spec.width);
    s.mlp_output_norm =
        norm(l.mlp_output_norm.has_value(), "post_feedforward_layernorm", spec.width);
    s.attention.query = linear("self_attn.q_proj", q, spec.width, biases.inputs);
    s.attention.key = linear("self_attn.k_proj", kv, spec.width, biases.inputs);
    s.attention.value = linear("self_attn.v_proj", kv, spec.width, biases.inputs);
    s.attention.output = linear("self_attn.o_proj", spec.width, q, biases.output);
    const bool all = a.head_norm == HeadNorm::all, each = a.head_norm == HeadNorm::each;
    s.attention.query_norm = norm(all || each, "self_attn.q_norm", all ? q : a.width);
    s.attention.key_norm = norm(all || each, "self_attn.k_norm", all ? kv : a.width);
    if (a.gated) s.attention.gate = linear("self_attn.gate_proj", q, spec.width, false);
    s.mlp.gate = linear("mlp.gate_proj", l.mlp.width, spec.width, biases.mlp);
    s.mlp.up = linear("mlp.up_proj", l.mlp.width, spec.width, biases.mlp);
    s.mlp.down = linear("mlp.down_proj", spec.width, l.mlp.width, biases.mlp);
    w.layers.push_back(std::move(s));
  }
  return w;
}

}  // namespace tlaloc::llm
