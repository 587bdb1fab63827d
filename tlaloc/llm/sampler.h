// Chooses tokens by the logits of a model.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tlaloc/text/vocabulary.h"

namespace tlaloc::llm {

/// In the order in which they are applied, which is transformers' (presence and frequency, which it
/// lacks, stand where vLLM has them). Each value here changes nothing.
struct SamplingOptions {
  /// Added to logits; -infinity forbids a token.
  std::vector<std::pair<text::TokenId, float>> logit_bias;
  /// Logits of tokens in the prompt or the answer are divided by it, or multiplied where they are
  /// negative (Keskar et al., 2019).
  double repetition_penalty = 1;
  /// Taken off the logits of tokens in the answer: `frequency_penalty` for each time that it is
  /// there, `presence_penalty` once.
  double frequency_penalty = 0, presence_penalty = 0;
  /// Logits are divided by it. 0: the largest logit is chosen, the lowest id of equals, whatever
  /// is said below.
  double temperature = 1;
  /// Only the `top_k` largest logits, and those that equal the smallest of them; 0: all.
  std::int64_t top_k = 0;
  /// Only the most probable tokens that have `top_p` together, the fewest that do; of equals, lower
  /// ids first (Holtzman et al., 2020).
  double top_p = 1;
  /// Only tokens with this much of the largest probability.
  double min_p = 0;
  /// Only the tokens whose -log p is nearest to the entropy, as many as have `typical_p` together,
  /// and those as near as the last of them (Meister et al., 2023).
  double typical_p = 1;
  /// Gives the same tokens with the same logits, on every machine.
  std::uint64_t seed = 0;
};

/// For one answer: it remembers what was chosen.
class Sampler {
 public:
  /// UserError TL-SAMPLE-001 for an option out of its range.
  explicit Sampler(const SamplingOptions& options, std::span<const text::TokenId> prompt = {});

  /// The next token. UserError TL-SAMPLE-002 for logits that are NaN or infinite (-infinity is an
  /// id that can't be), and where no token is left; TL-SAMPLE-001 for a bias of an id without a
  /// logit.
  text::TokenId next(std::span<const float> logits);

  struct Candidate {
    text::TokenId id;
    double probability;
  };
  /// What `next` would choose from, in the order of ids. Errors: as next.
  std::vector<Candidate> candidates(std::span<const float> logits);

 private:
  void filter(std::span<const float> logits);
  void change_logits();
  void keep_top_k();
  void keep_top_p();
  void keep_min_p();
  void keep_typical();
  template <class Keep>
  void keep_if(const Keep& keep);
  std::uint64_t total() const;

  SamplingOptions options_;
  bool penalties_ = false;
  std::uint64_t chosen_ = 0;
  /// How often each token is in the answer; those of the prompt are there too.
  std::unordered_map<text::TokenId, std::int64_t> counts_;

  // What is left, by ids: where weights_[i] is exp((logits_[i] - largest_) / temperature).
  std::vector<text::TokenId> ids_;
  std::vector<float> logits_;
  std::vector<std::uint64_t> weights_;
  float largest_ = 0;
};

}  // namespace tlaloc::llm
