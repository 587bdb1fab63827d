// Text from a model: a prompt, then a token after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/llm/engine.h"
#include "tlaloc/llm/logits.h"
#include "tlaloc/llm/sampler.h"
#include "tlaloc/llm/stop.h"

namespace tlaloc::llm {

struct GenerateOptions {
  std::int64_t max_tokens = 0;  ///< of the answer; 0: as many as the context holds
  SamplingOptions sampling;
  std::vector<std::string> stop;  ///< strings that end the answer, and are no part of its text
  bool ignore_end = false;        ///< the model's end tokens end nothing
  std::int64_t top_logits = 0;    ///< that many of each token's are kept
  bool logprobs = false;          ///< each token's is kept
  std::optional<runtime::CancelToken> cancel;
};

/// What a model's makers say; what they don't say of temperature is 0, the most probable token.
SamplingOptions default_sampling(const GenerationDefaults& defaults);

enum class FinishReason : std::uint8_t {
  end_token,    ///< the model ended its answer
  stop_string,  ///< one of GenerateOptions::stop
  max_tokens,   ///< GenerateOptions::max_tokens
  context,      ///< the context is full
  cancelled,
};
/// "end_token", …
std::string_view name(FinishReason reason);

struct Generation {
  std::vector<text::TokenId>
      ids;  ///< of the answer, with an end token; also those of a stop string
  /// The ids' text without special tokens, up to a stop string.
  std::string text;
  FinishReason finish_reason = FinishReason::cancelled;
  std::string stop_string;  ///< which
  /// Of each id, where they were asked for: of the model's own logits, before any option changed
  /// them.
  std::vector<double> logprobs;
  std::vector<std::vector<TokenLogit>> top_logits;

  std::int64_t reused = 0;    ///< tokens of the prompt that had been run before
  double prompt_seconds = 0;  ///< up to the first logits
  double decode_seconds = 0;  ///< from there to the last ones
};

/// What becomes of the logits of one answer, step by step, whoever computes them.
class Answer {
 public:
  /// `room` is how many tokens the context holds beside the prompt. UserErrors: those of Sampler
  /// and StopStrings; TL-GENERATE-002 for stop strings without a tokenizer, which there need not be
  /// otherwise: then the text stays empty.
  Answer(const Checkpoint& checkpoint, std::span<const text::TokenId> prompt, std::int64_t room,
         const GenerateOptions& options);

  /// Chooses the next token by the logits behind all before it. The text that is certain now.
  std::string take(std::span<const float> logits);
  /// Ends it early. The text that was held back.
  std::string cancel();
  bool finished() const { return finished_; }
  /// `finish_reason` says something once it is finished.
  Generation generation;

 private:
  std::string finish(FinishReason reason, std::string text);
  GenerateOptions options_;
  std::vector<text::TokenId> end_tokens_;
  std::int64_t room_;
  Sampler sampler_;
  StopStrings stop_;
  std::optional<text::DecodeStream> stream_;
  bool finished_ = false;
};

/// A sequence that keeps what it has seen: where the next prompt begins alike, that part is not run
/// again. The engine outlives it.
class Context {
 public:
  explicit Context(Engine& engine) : engine_(&engine), sequence_(engine.sequence()) {}

  /// Makes it hold the tokens, which are at least one. The logits behind the last of them, f32
  /// [1, vocabulary]. Errors: as Engine::run; what it holds then is a beginning of `tokens`.
  HostArray run(std::span<const text::TokenId> tokens,
                const std::optional<runtime::CancelToken>& cancel = {});
  /// How many of the tokens `run` would not run.
  std::int64_t reusable(std::span<const text::TokenId> tokens) const;
  const std::vector<text::TokenId>& tokens() const { return tokens_; }
  Engine& engine() const { return *engine_; }

 private:
  Engine* engine_;
  Sequence sequence_;
  std::vector<text::TokenId> tokens_;
};

/// Goes on from the prompt. `on_text` is called with each piece of the text as soon as it is
/// certain, never with half a character. Cancelled, it gives what there is. UserErrors: those of
/// Answer and Engine::run, such as TL-LLM-004 for a prompt that is longer than the context;
/// TL-GENERATE-003 for a prompt without tokens.
Generation generate(Context& context, std::span<const text::TokenId> prompt,
                    const GenerateOptions& options,
                    const std::function<void(std::string_view)>& on_text = {});
/// The same for a text as encode_text has it, with its UserErrors.
Generation generate_text(Context& context, std::string_view prompt,
                         const GenerateOptions& options = {},
                         const std::function<void(std::string_view)>& on_text = {});

}  // namespace tlaloc::llm
