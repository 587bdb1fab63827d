// What `tlaloc generate` and `tlaloc chat` share: options, loading, interruption.
#pragma once

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/llm/generation.h"

namespace tlaloc::command {

struct ModelArguments {
  std::string model, weights = "stored", activations = "f32";
  std::int64_t context = 0, threads = 0;
};
void add_options(CLI::App& app, ModelArguments& a);

/// A model that is loaded, with what it takes to run it.
struct LanguageModel {
  std::shared_ptr<const llm::Model> model;
  std::unique_ptr<llm::Engine> engine;
  double load_seconds = 0;

  const llm::Checkpoint& checkpoint() const { return model->checkpoint; }
};
/// Options of sampling and of where answers end; those that are not given are the makers'.
struct AnswerArguments {
  std::int64_t max_tokens = 0;
  std::optional<double> temperature, top_p, min_p, typical_p, repetition_penalty, presence_penalty,
      frequency_penalty;
  std::optional<std::int64_t> top_k;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> logit_bias, stop;
};
void add_options(CLI::App& app, AnswerArguments& a);
/// Says on stderr what it does, once that takes longer than a second. What can't be asked of any
/// model's answers is refused before, with the UserErrors of Sampler and StopStrings.
LanguageModel load(const ModelArguments& a, const AnswerArguments& answers);
/// A seed that was not given is a random one.
llm::GenerateOptions options_of(const AnswerArguments& a, const llm::GenerationDefaults& defaults);

/// While it lives, Ctrl-C cancels its token instead of ending the program. One at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  const runtime::CancelToken& token() const { return token_; }

 private:
  runtime::CancelToken token_;
  struct sigaction before_ = {};
};

/// Messages from JSON, or from a file with it. UserError TL-GENERATE-004 for what is no list of
/// objects.
boost::json::array read_messages(const std::string& json_or_path);
/// For templates that say what day it is.
std::tm local_time();

/// "12.3 tokens/s"; empty where nothing was timed.
std::string speed(std::int64_t tokens, double seconds);

}  // namespace tlaloc::command
