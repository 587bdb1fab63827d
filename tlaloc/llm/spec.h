// What a decoder computes, as data. Each family of models is a reader of its configuration that
// fills this in; one builder (decoder.h) makes the program of any of them.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tlaloc::llm {

/// x / sqrt(mean x² + epsilon) · w along the last axis (Zhang and Sennrich, 2019).
struct NormSpec {
  double epsilon = 1e-6;
  bool around_zero = false;  ///< weights are stored as w - 1

  friend bool operator==(const NormSpec&, const NormSpec&) = default;
};

/// Rotary position embedding of the first 2 · frequencies.size() elements of each head (Su et al.,
/// 2021), with what scaling for longer contexts makes of the frequencies.
struct RopeSpec {
  std::vector<float> frequencies;  ///< radians for each position
  double factor = 1;               ///< of cosine and sine (YaRN, LongRoPE)
  /// What they were made from, with all that a configuration leaves out: rope_parameters as
  /// transformers spells them, and max_position_embeddings. Formats that tell no frequencies do
  /// want it; what is computed does not depend on it.
  boost::json::object parameters = {};

  friend bool operator==(const RopeSpec& a, const RopeSpec& b) {
    return a.frequencies == b.frequencies && a.factor == b.factor;
  }
};

/// What is normed of queries and keys before their position enters.
enum class HeadNorm : std::uint8_t {
  none,
  each,        ///< each head, with one weight [width] for all
  all,         ///< all heads as one axis, with a weight [heads · width]
  weightless,  ///< each head, without a weight
};

struct AttentionSpec {
  std::int64_t heads = 0, kv_heads = 0;
  std::int64_t width = 0;   ///< of a head
  double scale = 0;         ///< of the scores
  double soft_cap = 0;      ///< scores become cap · tanh(score / cap); 0: they stay
  std::int64_t window = 0;  ///< a token sees itself and the window - 1 before it; 0: all
  std::optional<int> rope;  ///< of DecoderSpec::ropes
  /// Rows of queries and keys for so many first elements of a head are stored as the pairs that
  /// turn together, (0, n / 2), (1, n / 2 + 1), …; 0: in their order.
  std::int64_t interleaved = 0;
  HeadNorm head_norm = HeadNorm::none;
  NormSpec head_norm_spec;
  double query_factor = 1;  ///< of queries, before their position enters
  bool gated = false;       ///< times logistic(gate · input), before the output product

  friend bool operator==(const AttentionSpec&, const AttentionSpec&) = default;
};

enum class MlpActivation : std::uint8_t { silu, gelu, gelu_tanh };

/// down · (activation(gate · x) ⊙ (up · x)).
struct MlpSpec {
  std::int64_t width = 0;  ///< between the products
  MlpActivation activation = MlpActivation::silu;

  friend bool operator==(const MlpSpec&, const MlpSpec&) = default;
};

/// x += residual_factor · after(part(before(x))), for attention and for the MLP.
struct LayerSpec {
  AttentionSpec attention;
  MlpSpec mlp;
  std::optional<NormSpec> attention_norm, attention_output_norm;  ///< before and after attention
  std::optional<NormSpec> mlp_norm, mlp_output_norm;              ///< before and after the MLP
  double residual_factor = 1;

  friend bool operator==(const LayerSpec&, const LayerSpec&) = default;
};

struct DecoderSpec {
  std::string family;           ///< as the configuration says it: "llama", "qwen3", …
  std::int64_t vocabulary = 0;  ///< rows of the embedding
  std::int64_t width = 0;
  std::int64_t context = 0;  ///< positions that the model was made for
  std::vector<RopeSpec> ropes;
  std::vector<LayerSpec> layers;
  std::optional<double> embedding_norm;  ///< epsilon of a norm without weights behind the lookup
  double embedding_factor = 1;
  NormSpec norm;            ///< of the last hidden state
  double logit_factor = 1;  ///< before the cap
  double logit_cap = 0;     ///< logits become cap · tanh(logit / cap); 0: they stay

  friend bool operator==(const DecoderSpec&, const DecoderSpec&) = default;
};

}  // namespace tlaloc::llm
