#include "tlaloc/text/template_lexer.h"

#include <fmt/format.h>

#include <array>

#include "tlaloc/text/unicode_class.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

/// Newlines are all \n, and one at the end is left out.
std::string normalized_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      out += source[i];
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

class Lexer {
 public:
  Lexer(std::string_view source, const std::string& name)
      : source_(normalized_newlines(source)), s_(source_), name_(name) {}

  std::vector<TemplateToken> run() {
    while (at_ < s_.size()) {
      const std::size_t begin = next_tag();
      text(at_, begin);
      if (begin == s_.size()) break;
      at_ = begin;
      const char kind = s_[begin + 1];
      if (kind == '#') {
        comment();
      } else if (kind == '%' && raw()) {
      } else {
        tag(kind == '%');
      }
    }
    add(TemplateToken::kEnd, "", s_.size());
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(std::size_t at, const std::string& message) {
    const auto [line, column] = place(at);
    throw_template_syntax(name_, line, column, message);
  }

  /// Line and column, which only go forward.
  std::pair<int, int> place(std::size_t at) {
    if (at < counted_) {
      counted_ = 0;
      line_ = 1;
      line_start_ = 0;
    }
    for (; counted_ < at; ++counted_) {
      if (s_[counted_] == '\n') {
        ++line_;
        line_start_ = counted_ + 1;
      }
    }
    return {line_, static_cast<int>(at - line_start_) + 1};
  }

  void add(TemplateToken::Kind kind, std::string text, std::size_t at) {
    const auto [line, column] = place(at);
    tokens_.push_back({kind, std::move(text), line, column});
  }

  std::size_t next_tag() const {
    for (std::size_t i = at_; i + 1 < s_.size(); ++i) {
      if (s_[i] == '{' && (s_[i + 1] == '{' || s_[i + 1] == '%' || s_[i + 1] == '#')) return i;
    }
    return s_.size();
  }

  char sign(std::size_t i) const {
    return i < s_.size() && (s_[i] == '-' || s_[i] == '+') ? s_[i] : 0;
  }

  std::size_t skip_space(std::size_t i) const {
    while (i < s_.size()) {
      const char* p = s_.data() + i;
      if (!is_python_space(next_char(p))) break;
      i = static_cast<std::size_t>(p - s_.data());
    }
    return i;
  }

  std::size_t strip_back(std::size_t begin, std::size_t end) const {
    while (end > begin) {
      std::size_t i = end - 1;
      while (i > begin && is_continuation(s_[i])) --i;
      const char* p = s_.data() + i;
      if (!is_python_space(next_char(p))) break;
      end = i;
    }
    return end;
  }

  /// Text up to a tag, whose sign says what becomes of the space before it.
  void text(std::size_t begin, std::size_t end) {
    std::size_t stop = end;
    if (end < s_.size()) {
      const char mark = sign(end + 2);
      if (mark == '-') {
        stop = strip_back(begin, end);
      } else if (mark != '+' && s_[end + 1] != '{') {
        // Space from the start of a line to a block is left out.
        const std::size_t newline = s_.substr(begin, end - begin).rfind('\n');
        const std::size_t line = newline == s_.npos ? begin : begin + newline + 1;
        if ((newline != s_.npos || line_starts_) && line < end && skip_space(line) >= end) {
          stop = line;
        }
      }
    }
    if (stop > begin) add(TemplateToken::kText, std::string(s_.substr(begin, stop - begin)), begin);
  }

  /// Moves behind the end of a tag, which is at `at`.
  void leave(std::size_t at, char mark, bool trims) {
    at_ = at + 2;
    line_starts_ = false;
    if (mark == '-') {
      const std::size_t after = skip_space(at_);
      line_starts_ = after > at_ && s_[after - 1] == '\n';
      at_ = after;
    } else if (trims && mark != '+' && at_ < s_.size() && s_[at_] == '\n') {
      ++at_;
      line_starts_ = true;
    }
  }

  void comment() {
    const std::size_t end = s_.find("#}", at_ + 2);
    if (end == s_.npos) fail(at_, "a comment that does not end");
    leave(end, end > at_ + 2 ? sign(end - 1) : 0, true);
  }

  /// {% raw %} … {% endraw %}.
  bool raw() {
    std::size_t i = at_ + 2;
    if (sign(i)) ++i;
    i = skip_space(i);
    if (s_.substr(i, 3) != "raw") return false;
    i = skip_space(i + 3);
    const char mark = sign(i);
    if (s_.substr(mark ? i + 1 : i, 2) != "%}") return false;
    leave(mark ? i + 1 : i, mark, true);
    const std::size_t body = at_;
    for (std::size_t k = body; (k = s_.find("{%", k)) != s_.npos; ++k) {
      std::size_t j = k + 2;
      const char before = sign(j);
      j = skip_space(before ? j + 1 : j);
      if (s_.substr(j, 6) != "endraw") continue;
      j = skip_space(j + 6);
      const char after = sign(j);
      if (s_.substr(after ? j + 1 : j, 2) != "%}") continue;
      text(body, k);
      leave(after ? j + 1 : j, after, true);
      return true;
    }
    fail(at_, "{% raw %} without {% endraw %}");
  }

  void tag(bool block) {
    const std::size_t begin = at_;
    add(block ? TemplateToken::kBlockBegin : TemplateToken::kPrintBegin, "", at_);
    at_ += 2;
    if (sign(at_)) ++at_;
    const std::string_view end = block ? "%}" : "}}";
    std::string open;  // brackets that are open
    for (;;) {
      at_ = skip_space(at_);
      if (at_ >= s_.size()) fail(begin, "a tag that does not end");
      if (open.empty()) {
        // A plus is a sign for blocks alone.
        const char mark = sign(at_) == '+' && !block ? '\0' : sign(at_);
        const std::size_t at = mark ? at_ + 1 : at_;
        if (s_.substr(at, 2) == end) {
          add(block ? TemplateToken::kBlockEnd : TemplateToken::kPrintEnd, "", at_);
          return leave(at, mark, block);
        }
      }
      token(open);
    }
  }

  void token(std::string& open) {
    const char c = s_[at_];
    if (c == '\'' || c == '"') return string(c);
    if (c >= '0' && c <= '9') return number();
    if (is_name(at_, true)) {
      const std::size_t begin = at_;
      while (at_ < s_.size() && is_name(at_, false)) at_ += length_of(s_[at_]);
      return add(TemplateToken::kName, std::string(s_.substr(begin, at_ - begin)), begin);
    }
    static constexpr std::array<std::string_view, 7> kLong{"//", "**", "==", "!=", ">=", "<=", ""};
    for (std::string_view op : kLong) {
      if (!op.empty() && s_.substr(at_, 2) == op) {
        add(TemplateToken::kOperator, std::string(op), at_);
        at_ += 2;
        return;
      }
    }
    if (std::string_view("+-*/%~[](){}<>=.:|,;").find(c) == std::string_view::npos) {
      fail(at_, fmt::format("the character '{}', which is no part of an expression",
                            s_.substr(at_, length_of(c))));
    }
    if (c == '(' || c == '[' || c == '{') open += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c == ')' || c == ']' || c == '}') {
      if (open.empty() || open.back() != c) fail(at_, fmt::format("an unexpected '{}'", c));
      open.pop_back();
    }
    add(TemplateToken::kOperator, std::string(1, c), at_++);
  }

  bool is_name(std::size_t i, bool first) const {
    const char c = s_[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_') return true;
    if (static_cast<signed char>(c) >= 0) return !first && c >= '0' && c <= '9';
    const char* p = s_.data() + i;
    const std::uint16_t classes = CharClasses::get()[next_char(p)];
    return (classes & kLetter) || (!first && (classes & (kMark | kNumber)));
  }

  void number() {
    const std::size_t begin = at_;
    std::string digits;
    auto take = [&](auto accepts) {
      for (; at_ < s_.size() && (accepts(s_[at_]) || (s_[at_] == '_' && at_ > begin)); ++at_) {
        if (s_[at_] != '_') digits += s_[at_];
      }
    };
    auto decimal = [](char c) { return c >= '0' && c <= '9'; };
    take(decimal);
    bool is_float = false;
    if (at_ + 1 < s_.size() && s_[at_] == '.' && decimal(s_[at_ + 1])) {
      is_float = true;
      digits += s_[at_++];
      take(decimal);
    }
    if (at_ < s_.size() && (s_[at_] == 'e' || s_[at_] == 'E')) {
      std::size_t i = at_ + 1;
      if (i < s_.size() && (s_[i] == '+' || s_[i] == '-')) ++i;
      if (i < s_.size() && decimal(s_[i])) {
        is_float = true;
        digits += s_.substr(at_, i - at_);
        at_ = i;
        take(decimal);
      }
    }
    if (at_ < s_.size() && is_name(at_, false)) {
      fail(begin, "a number that is neither a decimal integer nor a float");
    }
    add(is_float ? TemplateToken::kFloat : TemplateToken::kInteger, digits, begin);
  }

  void string(char quote) {
    const std::size_t begin = at_++;
    std::string out;
    for (;;) {
      if (at_ >= s_.size()) fail(begin, "a string that does not end");
      const char c = s_[at_++];
      if (c == quote) break;
      if (c == '\\') {
        escape(out);
      } else {
        out += c;
      }
    }
    add(TemplateToken::kString, std::move(out), begin);
  }

  /// What follows a backslash, as in Python's strings.
  void escape(std::string& out) {
    if (at_ >= s_.size()) return;
    const char c = s_[at_++];
    static constexpr std::string_view kFrom = "\\'\"abfnrtv", kTo = "\\'\"\a\b\f\n\r\t\v";
    if (c == '\n') return;
    if (const std::size_t i = kFrom.find(c); i != kFrom.npos) {
      out += kTo[i];
      return;
    }
    if (c >= '0' && c <= '7') {
      char32_t value = static_cast<char32_t>(c - '0');
      for (int n = 1; n < 3 && at_ < s_.size() && s_[at_] >= '0' && s_[at_] <= '7'; ++n) {
        value = value * 8 + static_cast<char32_t>(s_[at_++] - '0');
      }
      return append_char(out, value);
    }
    const int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      if (c == 'N') fail(at_ - 2, "a character by name");
      out += '\\';
      out += c;
      return;
    }
    std::uint64_t value = 0;
    for (int n = 0; n < digits; ++n, ++at_) {
      const char h = at_ < s_.size() ? s_[at_] : ' ';
      const int d = h >= '0' && h <= '9'   ? h - '0'
                    : h >= 'a' && h <= 'f' ? h - 'a' + 10
                    : h >= 'A' && h <= 'F' ? h - 'A' + 10
                                           : -1;
      if (d < 0) fail(at_, "an incomplete escape in a string");
      value = value * 16 + static_cast<unsigned>(d);
    }
    if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) {
      fail(at_, "an escape that is no character");
    }
    append_char(out, static_cast<char32_t>(value));
  }

  std::string source_;
  std::string_view s_;
  const std::string& name_;
  std::vector<TemplateToken> tokens_;
  std::size_t at_ = 0, counted_ = 0, line_start_ = 0;
  int line_ = 1;
  bool line_starts_ = true;
};

}  // namespace

std::vector<TemplateToken> tokenize_template(std::string_view source, const std::string& name) {
  return Lexer(source, name).run();
}

void throw_template_syntax(const std::string& name, int line, int column,
                           const std::string& message) {
  throw UserError({"TL-TEMPLATE-001",
                   "template",
                   message,
                   "write it in the part of Jinja that docs/chat-templates.md describes",
                   {name, line, column}});
}

bool is_python_space(char32_t c) {
  return (CharClasses::get()[c] & kSpace) != 0 || (c >= 0x1C && c <= 0x1F);
}

}  // namespace tlaloc::text
