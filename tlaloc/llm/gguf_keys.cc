#include "tlaloc/llm/gguf_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace tlaloc::llm {
namespace {

using Value = std::optional<double>;
using Spec = const DecoderSpec&;

double rope_number(const RopeSpec& rope, const char* key) {
  return rope.parameters.at(key).to_number<double>();
}
Value positive(double x) { return x == 0 ? Value() : Value(x); }

std::int64_t window_of(Spec s) {
  std::int64_t window = 0;
  for (const LayerSpec& l : s.layers) window = std::max(window, l.attention.window);
  return window;
}
/// The n of which each n-th layer has no window; nothing where no layer has one.
Value window_pattern(Spec s) {
  if (window_of(s) == 0) return {};
  std::size_t n = 1;
  while (n <= s.layers.size() && s.layers[n - 1].attention.window != 0) ++n;
  return static_cast<double>(n);
}

constexpr GgufKey kCommon[] = {
    {"block_count", "num_hidden_layers", GgufKind::size,
     [](Spec s) { return Value(std::ssize(s.layers)); }},
    {"context_length", "max_position_embeddings", GgufKind::size,
     [](Spec s) { return Value(rope_number(s.ropes.back(), "max_position_embeddings")); }},
    {"embedding_length", "hidden_size", GgufKind::size, [](Spec s) { return Value(s.width); }},
    {"feed_forward_length", "intermediate_size", GgufKind::size,
     [](Spec s) { return Value(s.layers[0].mlp.width); }},
    {"attention.head_count", "num_attention_heads", GgufKind::size,
     [](Spec s) { return Value(s.layers[0].attention.heads); }},
    {"attention.head_count_kv", "num_key_value_heads", GgufKind::optional_size,
     [](Spec s) { return Value(s.layers[0].attention.kv_heads); }},
    {"attention.key_length", "head_dim", GgufKind::optional_size,
     [](Spec s) { return Value(s.layers[0].attention.width); }},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps", GgufKind::number,
     [](Spec s) { return Value(s.norm.epsilon); }},
    {"rope.freq_base", "rope_theta", GgufKind::optional_number,
     [](Spec s) { return Value(rope_number(s.ropes.back(), "rope_theta")); }},
};

constexpr GgufKey kWindow = {"attention.sliding_window", "sliding_window", GgufKind::window,
                             [](Spec s) { return positive(static_cast<double>(window_of(s))); }};
constexpr GgufKey kLogitCap = {"final_logit_softcapping", "final_logit_softcapping",
                               GgufKind::optional_number,
                               [](Spec s) { return positive(s.logit_cap); }};
constexpr GgufKey kWindowed[] = {kWindow};
constexpr GgufKey kGemma2[] = {
    kWindow,
    {"attn_logit_softcapping", "attn_logit_softcapping", GgufKind::optional_number,
     [](Spec s) { return positive(s.layers[0].attention.soft_cap); }},
    kLogitCap,
};
constexpr GgufKey kGemma3[] = {
    kWindow,
    {"attention.sliding_window_pattern", "sliding_window_pattern", GgufKind::window,
     window_pattern},
    kLogitCap,
    {"rope.freq_base_swa", "rope_local_base_freq", GgufKind::optional_number,
     [](Spec s) { return Value(rope_number(s.ropes.front(), "rope_theta")); }},
};
constexpr GgufKey kGranite[] = {
    {"attention.scale", "attention_multiplier", GgufKind::optional_number,
     [](Spec s) { return Value(s.layers[0].attention.scale); }},
    {"embedding_scale", "embedding_multiplier", GgufKind::optional_number,
     [](Spec s) { return Value(s.embedding_factor); }},
    {"residual_scale", "residual_multiplier", GgufKind::optional_number,
     [](Spec s) { return Value(s.layers[0].residual_factor); }},
    {"logit_scale", "logits_scaling", GgufKind::optional_number,
     [](Spec s) { return Value(1 / s.logit_factor); }},
};

constexpr Biases kAllBiases = {.inputs = true, .output = true, .mlp = true};
constexpr GgufArchitecture kArchitectures[] = {
    {.name = "llama",
     .model_type = "llama",
     .made_class = "LlamaForCausalLM",
     .also = "mistral",
     .interleaved = true,
     .biases = kAllBiases,
     .frequency_factors = true},
    {.name = "qwen2",
     .model_type = "qwen2",
     .made_class = "Qwen2ForCausalLM",
     .biases = {.inputs = true}},
    {.name = "qwen3", .model_type = "qwen3", .made_class = "Qwen3ForCausalLM"},
    {.name = "gemma2",
     .model_type = "gemma2",
     .made_class = "Gemma2ForCausalLM",
     .keys = kGemma2,
     .own_head = false,
     .layers_scaled_by_width = 46},
    {.name = "gemma3",
     .model_type = "gemma3_text",
     .made_class = "Gemma3ForCausalLM",
     .keys = kGemma3,
     .layers_scaled_by_width = 62},
    {.name = "phi3",
     .model_type = "phi3",
     .made_class = "Phi3ForCausalLM",
     .keys = kWindowed,
     .two_factor_sets = true},
    {.name = "olmo2", .model_type = "olmo2", .made_class = "Olmo2ForCausalLM", .tied_head = false},
    {.name = "granite",
     .model_type = "granite",
     .made_class = "GraniteForCausalLM",
     .interleaved = true,
     .keys = kGranite,
     .biases = kAllBiases},
    {.name = "smollm3",
     .model_type = "smollm3",
     .made_class = "SmolLM3ForCausalLM",
     .interleaved = true},
};

}  // namespace

std::span<const GgufArchitecture> gguf_architectures() { return kArchitectures; }
std::span<const GgufKey> gguf_common_keys() { return kCommon; }

const GgufArchitecture* gguf_architecture_of(std::string_view family) {
  for (const GgufArchitecture& a : kArchitectures) {
    if (family == a.model_type || family == a.also) return &a;
  }
  return nullptr;
}

double meant_number(float x) {
  double meant = x;
  if (!std::isfinite(x)) return meant;
  const std::string shortest = fmt::format("{}", x);
  std::from_chars(shortest.data(), shortest.data() + shortest.size(), meant);
  return meant;
}

std::optional<double> meant_number(const io::GgufMetadata& m, std::string_view key) {
  const std::optional<double> x = m.number(key);
  const io::GgufValue* value = m.find(key);
  return x && std::holds_alternative<float>(*value) ? meant_number(std::get<float>(*value)) : x;
}

}  // namespace tlaloc::llm
