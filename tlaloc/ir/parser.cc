// The cursor under everything that reads text.
#include <algorithm>
#include <charconv>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/text_io.h"

namespace tlaloc::ir {
namespace {

// Not <cctype>: it depends on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_alpha(c) || is_digit(c) || c == '.'; }
int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void Parser::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

std::size_t Parser::position() {
  skip();
  return at_;
}
std::string_view Parser::rest() {
  skip();
  return text_.substr(at_);
}
bool Parser::at_end() { return rest().empty(); }

void Parser::fail_at(std::size_t position, const std::string& message) const {
  const std::string_view before = text_.substr(0, position);
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  throw UserError({"TL-TEXT-001",
                   "parse",
                   message,
                   "",
                   {source_, static_cast<int>(line), static_cast<int>(position - line_start + 1)}});
}

bool Parser::peek(std::string_view token) {
  const std::string_view r = rest();
  if (!r.starts_with(token)) return false;
  const bool word = is_alpha(token.back()) || is_digit(token.back());
  return !word || r.size() == token.size() || !is_word(r[token.size()]);
}
bool Parser::accept(std::string_view token) {
  if (!peek(token)) return false;
  at_ += token.size();
  return true;
}
void Parser::expect(std::string_view token) {
  if (accept(token)) return;
  std::string found(rest().substr(0, 1));
  if (!found.empty() && is_word(found[0])) found = word();
  at_ -= found.size();
  found = found.empty() ? "the end" : "'" + found.substr(0, 40) + "'";
  fail("expected '" + std::string(token) + "', found " + found);
}

bool Parser::peek_identifier() {
  const std::string_view r = rest();
  return !r.empty() && is_alpha(r[0]);
}
std::string Parser::identifier() {
  if (!peek_identifier()) fail("expected a name");
  return word();
}
std::string Parser::word() {
  const std::string_view r = rest();
  const auto size = static_cast<std::size_t>(std::ranges::find_if_not(r, is_word) - r.begin());
  if (size == 0) fail("expected a name or number");
  at_ += size;
  return std::string(r.substr(0, size));
}

std::int64_t Parser::integer() {
  const std::string_view r = rest();
  std::int64_t x = 0;
  const auto [end, error] = std::from_chars(r.data(), r.data() + r.size(), x);
  if (error == std::errc::result_out_of_range) fail("the integer does not fit 64 bits");
  if (error != std::errc()) fail("expected an integer");
  at_ += static_cast<std::size_t>(end - r.data());
  return x;
}
double Parser::real() {
  double x = 0;
  parse_value(*this, x);
  return x;
}

std::string Parser::quoted() {
  const std::size_t start = position();
  expect("\"");
  std::string s;
  for (; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return s;
    }
    if (c == '\n') break;
    if (c != '\\') {
      s += c;
      continue;
    }
    if (++at_ == text_.size()) break;
    switch (text_[at_]) {
      case '"':
        s += '"';
        break;
      case '\\':
        s += '\\';
        break;
      case 'n':
        s += '\n';
        break;
      case 't':
        s += '\t';
        break;
      case 'x': {
        const int high = at_ + 2 < text_.size() ? hex_digit(text_[at_ + 1]) : -1;
        const int low = high >= 0 ? hex_digit(text_[at_ + 2]) : -1;
        if (low < 0) fail_at(at_ - 1, "'\\x' takes two hexadecimal digits");
        s += static_cast<char>(high * 16 + low);
        at_ += 2;
        break;
      }
      default:
        fail_at(at_ - 1, "unknown escape; there are \\\" \\\\ \\n \\t \\xHH");
    }
  }
  fail_at(start, "the string does not end on its line");
}

}  // namespace tlaloc::ir
