// Oniguruma's syntax in PCRE2's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/text/regex.h"
#include "tlaloc/text/unicode_class.h"

namespace tlaloc::text {
namespace {

/// The characters of a class that came after Unicode 14, which the PCRE2 of Debian 12 knows, as
/// ranges of a bracket expression. Some that came before are among them, which does no harm.
std::string newer_members(CharClass member) {
  const CharClasses& classes = CharClasses::get();
  std::string out;
  auto is_newer = [&](char32_t c) {
    return (classes[c] & member) != 0 && (classes[c] & kNotNormalized) != 0;
  };
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (!is_newer(c)) continue;
    const char32_t first = c;
    while (c + 1 < 0x110000 && is_newer(c + 1)) ++c;
    out += fmt::format("\\x{{{:x}}}-\\x{{{:x}}}", static_cast<unsigned>(first),
                       static_cast<unsigned>(c));
  }
  return out;
}

struct Property {
  std::string_view name;
  CharClass member;
};
constexpr std::array kProperties{Property{"L", kLetter}, Property{"N", kNumber},
                                 Property{"M", kMark}, Property{"P", kPunctuation},
                                 Property{"w", kWord}};
// Oniguruma's \w, without the newer ones. Outside of brackets it takes the numbers of Latin-1 too.
constexpr std::string_view kWordMembers = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Nl}\p{Pc})";
constexpr std::string_view kLatinNumbers = R"(\xb2\xb3\xb9\xbc-\xbe)";

/// Scripts have long names, and the other properties that are known here are these.
bool is_script(std::string_view name) {
  static constexpr std::array<std::string_view, 12> kOthers{
      "any",   "alphabetic", "alpha", "white_space", "whitespace", "space",
      "lower", "lowercase",  "upper", "uppercase",   "emoji",      "ideographic"};
  std::string lower;
  for (char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return name.size() > 2 && std::find(kOthers.begin(), kOthers.end(), lower) == kOthers.end();
}

/// The ranges to add to \p{name}; empty where nothing is known.
const std::string& additions(std::string_view name) {
  static const std::array<std::string, kProperties.size()> all = [] {
    std::array<std::string, kProperties.size()> made;
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = newer_members(kProperties[i].member);
    return made;
  }();
  static const std::string none;
  for (std::size_t i = 0; i < kProperties.size(); ++i) {
    if (kProperties[i].name == name) return all[i];
  }
  return none;
}

class Translator {
 public:
  Translator(std::string_view pattern, const std::string& place) : in_(pattern), place_(place) {}

  std::string run() {
    while (at_ < in_.size()) {
      const char c = in_[at_];
      if (c == '\\') {
        escape();
      } else if (c == '(' && !in_class_) {
        group();
      } else if (c == '[') {
        if (in_class_) {
          if (next_is("[:")) {
            posix();
            continue;
          }
          refuse("a bracket expression inside another");
        }
        in_class_ = true;
        out_ += c;
        ++at_;
        for (char first : {'^', ']'}) {
          if (at_ < in_.size() && in_[at_] == first) {
            if (first == ']') out_ += '\\';
            out_ += first;
            ++at_;
          }
        }
      } else if (c == ']' && in_class_) {
        in_class_ = false;
        out_ += c;
        ++at_;
      } else if (in_class_ && next_is("&&")) {
        refuse("an intersection (&&)");
      } else if (!in_class_ && c == '}' && at_ + 1 < in_.size() && in_[at_ + 1] == '+') {
        refuse("a + after an interval, which repeats it");
      } else if (!in_class_ && next_is("{,")) {
        refuse("an interval without a lower bound");
      } else if (!in_class_ && c == '}' && at_ + 1 < in_.size() && in_[at_ + 1] == '?' &&
                 closes_count()) {
        refuse("a ? after a count, which makes it optional");
      } else {
        out_ += c;
        ++at_;
      }
    }
    if (ignores_case_) check_folding();
    return std::move(out_);
  }

 private:
  bool next_is(std::string_view s) const { return in_.substr(at_, s.size()) == s; }

  [[noreturn]] void refuse(const std::string& what) const {
    throw UserError(
        {"TL-TOKENIZER-002",
         "tokenizer",
         fmt::format("{}: '{}' has {} at byte {}, which is not supported", place_, in_, what, at_),
         "write the expression without it",
         {}});
  }

  /// The start of a group: those that both read in the same way.
  void group() {
    static constexpr std::array<std::string_view, 10> kStarts{
        "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?#", "(?i:", "(?i)", "(?-i:"};
    for (std::string_view start : kStarts) {
      if (!next_is(start)) continue;
      ignores_case_ |= start == "(?i:" || start == "(?i)";
      out_ += start;
      at_ += start.size();
      if (start != "(?#") return;
      const std::size_t end = std::min(in_.find(')', at_), in_.size());
      if (in_.substr(at_, end - at_).find('\\') != std::string_view::npos) {
        refuse("a backslash in a comment");
      }
      at_ = end;
      return;
    }
    if (next_is("(?") || next_is("(*")) {
      refuse(fmt::format("a group that starts with '{}'", in_.substr(at_, 3)));
    }
    out_ += '(';
    ++at_;
  }

  /// Whether the brace at this place closes {n}.
  bool closes_count() const {
    std::size_t begin = at_;
    while (begin > 0 && in_[begin - 1] >= '0' && in_[begin - 1] <= '9') --begin;
    return begin < at_ && begin > 0 && in_[begin - 1] == '{';
  }

  /// Without case, Oniguruma has single characters for two or three, such as U+00DF for ss.
  void check_folding() {
    for (at_ = 0; at_ < in_.size(); ++at_) {
      auto lower = [&](std::size_t i) {
        const char c = i < in_.size() ? in_[i] : ' ';
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
      };
      const char c = lower(at_), next = lower(at_ + 1);
      if (static_cast<signed char>(c) < 0 || (c == '\\' && (next == 'x' || next == 'u'))) {
        refuse("a character beyond ASCII where case is ignored");
      }
      const std::string_view after = c == 's' ? "st{" : c == 'f' ? "fil{" : "";
      const bool is_escape = at_ > 0 && in_[at_ - 1] == '\\';
      if (!is_escape && after.find(next) != std::string_view::npos) {
        refuse("letters that have a ligature, where case is ignored");
      }
    }
  }

  void posix() {
    for (const auto& [name, members] :
         {std::pair<std::string_view, std::string_view>{"[:digit:]", "\\p{Nd}"},
          {"[:space:]", "\\p{White_Space}"}}) {
      if (!next_is(name)) continue;
      out_ += members;
      at_ += name.size();
      return;
    }
    refuse("a POSIX bracket");
  }

  void escape() {
    if (at_ + 1 == in_.size()) refuse("a backslash at its end");
    const char c = in_[at_ + 1];
    switch (c) {
      case 'p':
      case 'P':
        return property(c == 'P');
      // PCRE2 has U+180E among spaces.
      case 's':
      case 'S':
        out_ += c == 's' ? "\\p{White_Space}" : "\\P{White_Space}";
        at_ += 2;
        return;
      case 'w':
      case 'W':
        word(c == 'W');
        return;
      case 'b':
        if (in_class_) refuse("\\b in a bracket expression");
        boundary(false);
        return;
      case 'B':
        boundary(true);
        return;
      case 'u': {
        const std::string_view digits = in_.substr(at_ + 2, 4);
        if (digits.size() < 4) refuse("an incomplete \\u");
        out_ += fmt::format("\\x{{{}}}", digits);
        at_ += 6;
        return;
      }
      default:
        // Other letters mean something else to PCRE2, or nothing.
        if (((c | 32) >= 'a' && (c | 32) <= 'z') &&
            std::string_view("antfredDAzZGx").find(c) == std::string_view::npos) {
          refuse(fmt::format("\\{}", c));
        }
        out_ += in_.substr(at_, 2);
        at_ += 2;
    }
  }

  void word(bool negated) {
    if (in_class_ && negated) refuse("\\W in a bracket expression");
    const std::string members = std::string(kWordMembers) + additions("w");
    out_ +=
        in_class_ ? members : fmt::format("[{}{}{}]", negated ? "^" : "", members, kLatinNumbers);
    at_ += 2;
  }

  /// Between what is a word and what is not.
  void boundary(bool negated) {
    const std::string w = fmt::format("[{}{}{}]", kWordMembers, additions("w"), kLatinNumbers);
    out_ += negated ? fmt::format("(?:(?<={0})(?={0})|(?<!{0})(?!{0}))", w)
                    : fmt::format("(?:(?<={0})(?!{0})|(?<!{0})(?={0}))", w);
    at_ += 2;
  }

  void property(bool negated) {
    std::size_t end = at_ + 3;
    std::string_view name;
    if (in_.substr(at_ + 2, 1) == "{") {
      const std::size_t close = in_.find('}', at_);
      if (close == std::string_view::npos) refuse("an open \\p{");
      name = in_.substr(at_ + 3, close - at_ - 3);
      end = close + 1;
    } else {
      refuse("a \\p without braces");
    }
    if (!name.empty() && name[0] == '^') {
      negated = !negated;
      name.remove_prefix(1);
    }
    if (name.find_first_of("=:&^") != name.npos || name.starts_with('X')) {
      refuse(fmt::format("the property '{}'", name));
    }
    const std::string& more = additions(name);
    // PCRE2 has the characters that a script shares with others in it, unless told not to.
    const std::string own =
        fmt::format("\\{}{{{}{}}}", negated ? 'P' : 'p', is_script(name) ? "sc:" : "", name);
    if (more.empty()) {
      out_ += own;
    } else if (!in_class_) {
      out_ += fmt::format("[{}\\p{{{}}}{}]", negated ? "^" : "", name, more);
    } else if (negated) {
      refuse(fmt::format("\\P{{{}}} in a bracket expression", name));
    } else {
      out_ += own + more;
    }
    at_ = end;
  }

  std::string_view in_;
  const std::string& place_;
  std::string out_;
  std::size_t at_ = 0;
  bool in_class_ = false, ignores_case_ = false;
};

}  // namespace

std::string to_pcre(std::string_view pattern, const std::string& place) {
  return Translator(pattern, place).run();
}

std::string escape_regex(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::string_view("\\.+*?()|[]{}^$#&-~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace tlaloc::text
