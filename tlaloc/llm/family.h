// What the readers of families share. A family is a function from a configuration, as
// transformers names it, to what the decoder computes and where its weights are.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tlaloc/llm/checkpoint.h"
#include "tlaloc/llm/config.h"
#include "tlaloc/llm/rope.h"

namespace tlaloc::llm {

/// The sizes that all families have. Without a head_width it is width / heads.
struct Sizes {
  std::int64_t vocabulary = 0, width = 0, mlp_width = 0, layers = 0;
  std::int64_t heads = 0, kv_heads = 0, head_width = 0;
  std::int64_t context = 0;
  double epsilon = 1e-6;
  bool tied = false;
};
/// `otherwise` has what transformers takes where a key is not there; kv_heads 0 is as many as
/// heads.
Sizes read_sizes(Config& config, const Sizes& otherwise);

/// silu, gelu or gelu_pytorch_tanh.
MlpActivation read_activation(Config& config, std::string_view key, std::string_view otherwise);

/// Layers x += attention(norm(x)), x += mlp(norm(x)), without positions.
DecoderSpec plain_decoder(std::string_view family, const Sizes& sizes, MlpActivation activation);

/// Appends the rotary embedding that parameters describe; the context grows with it. `used` is as
/// in CheckpointOptions::context.
int add_rope(const Config& config, const RopeParameters& parameters, const Sizes& sizes,
             std::int64_t used, DecoderSpec& spec, double theta = 10000);
/// That of the keys at the top, for all layers.
void add_rope_to_all(Config& config, const Sizes& sizes, std::int64_t used, DecoderSpec& spec,
                     double theta = 10000);

/// By layer_types.
std::vector<bool> listed_sliding_layers(Config& config, std::int64_t layers);
/// Which layers have a window: those that layer_types makes "sliding_attention"; without the key
/// those that `otherwise` is true for.
template <class Otherwise>
std::vector<bool> sliding_layers(Config& config, std::int64_t layers, const Otherwise& otherwise) {
  if (config.has("layer_types")) return listed_sliding_layers(config, layers);
  std::vector<bool> sliding;
  for (std::int64_t i = 0; i < layers; ++i) sliding.push_back(otherwise(i));
  return sliding;
}

/// Sliding layers see `window` tokens; TL-LLM-002 where that is 0, for none.
void add_windows(Config& config, const std::vector<bool>& sliding, std::int64_t window,
                 DecoderSpec& spec);

/// Which linear maps have biases.
struct Biases {
  bool inputs = false;  ///< of queries, keys and values
  bool output = false;  ///< of attention
  bool mlp = false;
};
/// Where transformers keeps the weights, "model." standing before all but the head.
WeightsOf<Source> weight_names(const DecoderSpec& spec, bool tied, const Biases& biases = {});

/// The same weights as llama.cpp calls them.
void use_gguf_names(WeightsOf<Source>& weights);
/// The biases of a GGUF file are those that it has.
void find_gguf_biases(WeightsOf<Source>& weights, const io::TensorFile& tensors);

/// What transformers would have as the configuration of a GGUF file; null is for what the file does
/// not say. Errors: as read_gguf_config.
boost::json::object gguf_config(const io::Gguf& file, const std::string& name);

/// Reads the keys of a family; `used` is as in CheckpointOptions::context. The caller has asked for
/// what all have, and asks for what is left.
using FamilyReader = Decoder (*)(Config& config, std::int64_t used);
Decoder read_llama(Config& config, std::int64_t used);
Decoder read_mistral(Config& config, std::int64_t used);
Decoder read_smollm3(Config& config, std::int64_t used);
Decoder read_qwen2(Config& config, std::int64_t used);
Decoder read_qwen3(Config& config, std::int64_t used);
Decoder read_gemma2(Config& config, std::int64_t used);
Decoder read_gemma3_text(Config& config, std::int64_t used);
Decoder read_gemma3(Config& config, std::int64_t used);
Decoder read_phi3(Config& config, std::int64_t used);
Decoder read_olmo2(Config& config, std::int64_t used);
Decoder read_granite(Config& config, std::int64_t used);
Decoder read_muse_glimmer_text(Config& config, std::int64_t used);
Decoder read_muse_glimmer(Config& config, std::int64_t used);

/// What transformers writes into any configuration and inference does not depend on: how weights
/// were made and are stored, where files came from, and what generation_config.json says better.
void ignore_common(Config& config);
/// The text part of a model that sees images too. Its family is the one given, whatever it says.
Decoder read_text_part(Config& config, std::int64_t used, FamilyReader reader);

/// The decoder of a configuration with all its keys, model_type among them.
Decoder read_family(Config& config, const CheckpointOptions& options);

}  // namespace tlaloc::llm
