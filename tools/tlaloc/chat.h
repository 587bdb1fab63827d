// `tlaloc chat`: a conversation with a language model in a terminal.
#pragma once

#include <optional>
#include <string>

#include "tools/tlaloc/language_model.h"

namespace tlaloc::command {

struct ChatArguments {
  ModelArguments model;
  AnswerArguments answer;
  std::optional<std::string> system, messages;
  bool timings = false;
};
void add_options(CLI::App& app, ChatArguments& a);
void chat(const ChatArguments& a);

}  // namespace tlaloc::command
