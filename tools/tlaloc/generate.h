// `tlaloc generate`: a model goes on from a text, or answers messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tools/tlaloc/language_model.h"

namespace tlaloc::command {

struct GenerateArguments {
  ModelArguments model;
  AnswerArguments answer;
  std::optional<std::string> prompt, messages, system;
  bool raw = false, chat = false, json = false, timings = false;
  bool logprobs = false, ignore_end = false;
  std::int64_t top_logits = 0;
};
void add_options(CLI::App& app, GenerateArguments& a);
void generate(const GenerateArguments& a);

}  // namespace tlaloc::command
