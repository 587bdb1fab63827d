#include "tlaloc/llm/generation.h"

#include <algorithm>
#include <chrono>

#include "tlaloc/base/error.h"
#include "tlaloc/llm/prompt.h"

namespace tlaloc::llm {

SamplingOptions default_sampling(const GenerationDefaults& defaults) {
  SamplingOptions s;
  s.temperature = defaults.temperature.value_or(0);
  s.top_p = defaults.top_p.value_or(s.top_p);
  s.top_k = defaults.top_k.value_or(s.top_k);
  s.min_p = defaults.min_p.value_or(s.min_p);
  s.typical_p = defaults.typical_p.value_or(s.typical_p);
  s.repetition_penalty = defaults.repetition_penalty.value_or(s.repetition_penalty);
  return s;
}

std::string_view name(FinishReason reason) {
  switch (reason) {
    case FinishReason::end_token:
      return "end_token";
    case FinishReason::stop_string:
      return "stop_string";
    case FinishReason::max_tokens:
      return "max_tokens";
    case FinishReason::context:
      return "context";
    case FinishReason::cancelled:
      break;
  }
  return "cancelled";
}

Answer::Answer(const Checkpoint& checkpoint, std::span<const text::TokenId> prompt,
               std::int64_t room, const GenerateOptions& options)
    : options_(options),
      end_tokens_(options.ignore_end ? std::vector<text::TokenId>()
                                     : checkpoint.generation.end_tokens),
      room_(room),
      sampler_(options.sampling, prompt),
      stop_(options.stop) {
  if (checkpoint.tokenizer) {
    stream_.emplace(*checkpoint.tokenizer, /*skip_special_tokens=*/true);
  } else if (!options.stop.empty() && checkpoint.tokenizer_error) {
    throw *checkpoint.tokenizer_error;
  } else if (!options.stop.empty()) {
    throw UserError({"TL-GENERATE-002",
                     "generate",
                     "stop strings need a tokenizer, which " + checkpoint.path + " lacks",
                     "put the model's tokenizer.json beside its weights",
                     {}});
  }
}

std::string Answer::finish(FinishReason reason, std::string text) {
  generation.finish_reason = reason;
  finished_ = true;
  if (reason != FinishReason::stop_string) {
    if (stream_) text += stop_.push(stream_->finish());
    // What was held back may be what makes a stop string whole.
    if (stop_.stopped()) generation.finish_reason = FinishReason::stop_string;
    text += stop_.finish();
  }
  generation.stop_string = stop_.stopped_by();
  generation.text += text;
  return text;
}

std::string Answer::take(std::span<const float> logits) {
  internal_check(!finished_, "a finished answer takes no logits");
  const text::TokenId id = sampler_.next(logits);
  generation.ids.push_back(id);
  if (options_.logprobs) {
    const double sum = log_sum_exp(logits, largest_logit("logprobs", logits));
    generation.logprobs.push_back(logits[static_cast<std::size_t>(id)] - sum);
  }
  if (options_.top_logits > 0) {
    generation.top_logits.push_back(
        top_logits(logits, static_cast<std::size_t>(options_.top_logits)));
  }
  if (std::find(end_tokens_.begin(), end_tokens_.end(), id) != end_tokens_.end()) {
    return finish(FinishReason::end_token, {});
  }
  std::string text = stream_ ? stop_.push(stream_->push(id)) : std::string();
  if (stop_.stopped()) return finish(FinishReason::stop_string, std::move(text));
  const auto count = static_cast<std::int64_t>(generation.ids.size());
  if (count == options_.max_tokens) return finish(FinishReason::max_tokens, std::move(text));
  if (count > room_) return finish(FinishReason::context, std::move(text));
  generation.text += text;
  return text;
}

std::string Answer::cancel() { return finish(FinishReason::cancelled, {}); }

std::int64_t Context::reusable(std::span<const text::TokenId> tokens) const {
  const auto [end, other] =
      std::mismatch(tokens.begin(), tokens.end(), tokens_.begin(), tokens_.end());
  // The last one is run in any case, for the logits behind it.
  return std::min<std::int64_t>(end - tokens.begin(), std::ssize(tokens) - 1);
}

HostArray Context::run(std::span<const text::TokenId> tokens,
                       const std::optional<runtime::CancelToken>& cancel) {
  internal_check(!tokens.empty(), "a context runs at least one token");
  const std::int64_t kept = reusable(tokens);
  tokens_.resize(static_cast<std::size_t>(kept));
  sequence_.truncate(kept);
  const std::span<const text::TokenId> added = tokens.subspan(static_cast<std::size_t>(kept));
  const Engine::Work work{&sequence_, added};
  HostArray logits = engine_->run({&work, 1}, cancel);
  tokens_.insert(tokens_.end(), added.begin(), added.end());
  return logits;
}

namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Generation generate(Context& context, std::span<const text::TokenId> prompt,
                    const GenerateOptions& options,
                    const std::function<void(std::string_view)>& on_text) {
  if (prompt.empty()) {
    throw UserError({"TL-GENERATE-003",
                     "generate",
                     "the prompt has no tokens, so there is nothing to go on from",
                     "give some text",
                     {}});
  }
  const Engine& engine = context.engine();
  Answer answer(engine.model().checkpoint, prompt, engine.context() - std::ssize(prompt), options);
  Generation& g = answer.generation;
  g.reused = context.reusable(prompt);
  auto give = [&](const std::string& text) {
    if (on_text && !text.empty()) on_text(text);
  };
  std::vector<text::TokenId> tokens(prompt.begin(), prompt.end());
  const Clock::time_point start = Clock::now();
  while (!answer.finished()) {
    HostArray logits;
    try {
      logits = context.run(tokens, options.cancel);
    } catch (const UserError& e) {
      if (e.code() != "TL-CANCEL-001") throw;
      give(answer.cancel());
      break;
    }
    if (g.ids.empty()) g.prompt_seconds = seconds_since(start);
    give(answer.take(logits.as<float>()));
    g.decode_seconds = seconds_since(start) - g.prompt_seconds;
    tokens.push_back(g.ids.back());
  }
  return std::move(g);
}

Generation generate_text(Context& context, std::string_view prompt, const GenerateOptions& options,
                         const std::function<void(std::string_view)>& on_text) {
  return generate(context, encode_text(context.engine().model().checkpoint, prompt), options,
                  on_text);
}

}  // namespace tlaloc::llm
