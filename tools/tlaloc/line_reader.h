// Lines that somebody types, or that come from a pipe.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace tlaloc::command {

/// Standard input. From a terminal, lines are edited, with those before at hand (arrow keys);
/// elsewhere the prompt is not shown.
class LineReader {
 public:
  LineReader();
  ~LineReader();
  bool interactive() const { return editor_ != nullptr; }

  /// A line without its end; nothing at the end of the input, and where Ctrl-C gave the line up.
  std::optional<std::string> read(const std::string& prompt);
  /// Whether it was Ctrl-C.
  bool interrupted() const { return interrupted_; }

 private:
  struct Editor;
  std::unique_ptr<Editor> editor_;
  bool interrupted_ = false;
};

}  // namespace tlaloc::command
