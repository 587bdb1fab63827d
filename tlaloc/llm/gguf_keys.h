// How llama.cpp's files spell what configurations of transformers say: the list that the reader of
// GGUF and the converters in both directions go by. gguf_names.cc has the names of weights.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tlaloc/llm/family.h"
#include "tlaloc/llm/spec.h"

namespace tlaloc::llm {

enum class GgufKind : std::uint8_t {
  size,             ///< an integer that must be there
  optional_size,    ///< where it is not there, families derive it
  window,           ///< an integer; 0 is for none
  number,           ///< f32 that must be there
  optional_number,  ///< where it is not there, families have a default
};

struct GgufKey {
  std::string_view gguf;    ///< behind the architecture's name and a dot
  std::string_view config;  ///< transformers'
  GgufKind kind;
  /// What a decoder has there; nothing where it says nothing.
  std::optional<double> (*of)(const DecoderSpec& spec);
};

struct GgufArchitecture {
  std::string_view name;
  std::string_view model_type;  ///< what reads it, a family of read_config.cc
  std::string_view made_class;  ///< transformers' class of it
  std::string_view also;        ///< another family whose models it says too; "" for none
  /// Rows of queries and keys lie as AttentionSpec::interleaved says.
  bool interleaved = false;
  std::span<const GgufKey> keys = {};  ///< beside those of all
  Biases biases = {};                  ///< that llama.cpp adds
  bool own_head = true;                ///< it may have one
  bool tied_head = true;               ///< the embedding may be it
  bool frequency_factors = false;      ///< divides frequencies by those of rope_freqs.weight
  bool two_factor_sets = false;        ///< LongRoPE's, as tensors
  /// Of Gemma, whose files don't say it: the number of layers of the model whose scores are scaled
  /// by its width over its heads, not by the elements of a head.
  std::int64_t layers_scaled_by_width = 0;
};

std::span<const GgufArchitecture> gguf_architectures();
/// By the family of a decoder; null where llama.cpp has none.
const GgufArchitecture* gguf_architecture_of(std::string_view family);
std::span<const GgufKey> gguf_common_keys();

// Keys behind the architecture's name that are not one of a configuration.
namespace gguf_key {
inline constexpr std::string_view kVocabulary = "vocab_size";
inline constexpr std::string_view kValueWidth = "attention.value_length";
inline constexpr std::string_view kTurned = "rope.dimension_count";
inline constexpr std::string_view kScaling = "rope.scaling.type";
inline constexpr std::string_view kOldScale = "rope.scale_linear";
inline constexpr std::string_view kFinetuned = "rope.scaling.finetuned";
}  // namespace gguf_key

/// Parameters of scaled positions: keys behind the architecture's name, and those of
/// rope_parameters.
struct GgufScalingKey {
  std::string_view gguf;
  const char* config;
};
inline constexpr GgufScalingKey kGgufFactor = {"rope.scaling.factor", "factor"};
inline constexpr GgufScalingKey kGgufFirst = {"rope.scaling.original_context_length",
                                              "original_max_position_embeddings"};
inline constexpr GgufScalingKey kGgufAttentionFactor = {"rope.scaling.attn_factor",
                                                        "attention_factor"};
inline constexpr GgufScalingKey kGgufBetas[] = {{"rope.scaling.yarn_beta_fast", "beta_fast"},
                                                {"rope.scaling.yarn_beta_slow", "beta_slow"}};

// Tensors that are no weights, but of positions.
inline constexpr const char* kGgufFrequencyFactors = "rope_freqs.weight";
struct GgufFactorSet {
  const char *tensor, *config;
};
inline constexpr GgufFactorSet kGgufFactorSets[] = {{"rope_factors_short.weight", "short_factor"},
                                                    {"rope_factors_long.weight", "long_factor"}};

/// What makers say of sampling, and generation_config.json does.
struct GgufSamplingKey {
  const char *gguf, *config;
  std::optional<double> GenerationDefaults::* value;
};
inline constexpr GgufSamplingKey kGgufSampling[] = {
    {"general.sampling.temp", "temperature", &GenerationDefaults::temperature},
    {"general.sampling.top_p", "top_p", &GenerationDefaults::top_p},
    {"general.sampling.min_p", "min_p", &GenerationDefaults::min_p},
    {"general.sampling.penalty_repeat", "repetition_penalty",
     &GenerationDefaults::repetition_penalty},
};
inline constexpr const char* kGgufTopK = "general.sampling.top_k";

/// The number that was meant: 1e-5, not what f32 makes of it.
double meant_number(float x);
/// The same of a key, where it is there. UserError TL-GGUF-003 where it is no number.
std::optional<double> meant_number(const io::GgufMetadata& metadata, std::string_view key);

}  // namespace tlaloc::llm
