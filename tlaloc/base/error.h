// The three kinds of error. Each carries a stable code with a page in docs/errors.
#pragma once

#include <exception>
#include <string>

namespace tlaloc {

/// A place in the user's program. `line` or `column` 0 means unknown.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
  bool known() const { return line > 0; }
};

/// What an error says. Printed as "file:line[:column]: CODE: op: message; hint".
struct ErrorInfo {
  std::string code;     ///< stable, such as "TL-SHAPE-001"
  std::string op;       ///< the operation or function that refused; may be empty
  std::string message;  ///< what is wrong, with whole types or shapes
  std::string hint;     ///< what to do next; may be empty
  Place place;          ///< the user's line, when known
};

class Error : public std::exception {
 public:
  explicit Error(ErrorInfo info);
  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& code() const { return info_.code; }
  const ErrorInfo& info() const { return info_; }
  /// Fills in the user's line where the thrower did not know it; keeps a place that is known.
  void add_place(const Place& place);

 private:
  void format();
  ErrorInfo info_;
  std::string text_;
};

/// The program asked for something that is wrong or not supported.
class UserError : public Error {
 public:
  using Error::Error;
};

/// The machine or installation lacks something: a file, a plugin, memory.
class EnvironmentError : public Error {
 public:
  using Error::Error;
};

/// A defect of Tlaloc. Please report it with the text.
class InternalError : public Error {
 public:
  explicit InternalError(std::string message);
};

/// Throws InternalError unless `condition` holds.
void internal_check(bool condition, const char* message);

}  // namespace tlaloc
