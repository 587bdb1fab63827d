// What is read off the logits of a step, without sorting them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tlaloc/text/vocabulary.h"

namespace tlaloc::llm {

/// The largest. UserError TL-SAMPLE-002 where a logit is NaN or infinite, or where all are
/// -infinity (an id that can't be); `caller` is what the error says.
float largest_logit(const char* caller, std::span<const float> logits);

/// The k-th largest, 1 <= k <= logits.size(), in time linear in the logits. None is NaN.
float kth_largest(std::span<const float> logits, std::size_t k);

struct TokenLogit {
  text::TokenId id;
  float logit;

  friend bool operator==(const TokenLogit&, const TokenLogit&) = default;
};
/// The `count` largest, from the largest on; of equals, lower ids first. None is NaN.
std::vector<TokenLogit> top_logits(std::span<const float> logits, std::size_t count);

/// exp(0) of weights_of. With it sums over text::kMostIds logits stay below 2^63.
inline constexpr std::uint64_t kWeightOfOne = std::uint64_t{1} << 39;
/// weights[i] = exp((logits[i] - largest) / temperature) in units of 1 / kWeightOfOne, rounded.
/// Being integers, they have one sum in any order; their bits are those of IEEE 754's +, -, · and /
/// alone, so they are the same on every machine. `largest` is not below any logit.
void weights_of(std::span<const float> logits, float largest, double temperature,
                std::uint64_t* weights);

/// log Σ exp(logits[i]): what a logit lacks to be the logarithm of a probability.
double log_sum_exp(std::span<const float> logits, float largest);

}  // namespace tlaloc::llm
