// Rotary position embeddings of configurations, with what they say of longer contexts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tlaloc/llm/config.h"
#include "tlaloc/llm/spec.h"

namespace tlaloc::llm {

/// What a configuration says of an embedding, and where it says so.
struct RopeParameters {
  boost::json::object values;
  std::string path = "rope_parameters";
  Config::Names elsewhere;  ///< what stands beside the path: our key, and the file's
};
/// What rope_parameters (transformers 5), or rope_theta, partial_rotary_factor and rope_scaling
/// (4) say. TL-LLM-002 where they say two things.
RopeParameters rope_parameters(Config& config);

struct RopeRequest {
  std::int64_t head_width = 0;
  double theta = 10000;  ///< where the parameters say none
  /// max_position_embeddings; what the scaling makes of it where that is more.
  std::int64_t context = 0;
  /// Positions that will be used, at most; 0: all of the context.
  std::int64_t used = 0;
};

/// The frequencies that the parameters describe: rope_type default, linear (kaiokendev, 2023),
/// dynamic (bloc97, 2023), llama3 (Dubey et al., 2024), yarn (Peng et al., 2023) or longrope (Ding
/// et al., 2024). Dynamic ones change only beyond max_position_embeddings, and longrope has two
/// sets, for up to the length of the first training and beyond: one set is for all tokens here, so
/// that keys don't depend on what follows.
RopeSpec read_rope(Config& parameters, RopeRequest& request);

/// What longrope multiplies cosine and sine by, for a context that has grown by so much from the
/// length of the first training, where a configuration doesn't say it.
double longrope_attention_factor(double growth, double first_length);
/// By how much rope_type llama3 divides each of the frequencies that `rope` has.
std::vector<float> llama3_factors(const RopeSpec& rope);
/// The parameters of rope_type llama3 that make these factors, each to 1e-5 of it: converters
/// compute them in f32. Nothing where there are none with low_freq_factor 1; only their ratios
/// tell, and this is how Llama 3's are written.
std::optional<boost::json::object> llama3_parameters(std::span<const float> factors, double theta);

}  // namespace tlaloc::llm
