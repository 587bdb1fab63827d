// Oniguruma's syntax in PCRE2's.
#include <fmt/format.h>

#include <array>

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
      } else if (c == '[') {
        if (in_class_) {
          if (next_is("[:")) {
            copy_posix();
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
      } else if (!in_class_ && next_is("(?") && at_ + 2 < in_.size() && in_[at_ + 2] == '~') {
        refuse("an absence operator");
      } else {
        out_ += c;
        ++at_;
      }
    }
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

  void copy_posix() {
    const std::size_t end = in_.find(":]", at_);
    if (end == std::string_view::npos) refuse("an open [:");
    out_ += in_.substr(at_, end + 2 - at_);
    at_ = end + 2;
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
      // These mean something else to PCRE2, or nothing.
      case 'h':
      case 'H':
      case 'R':
      case 'X':
      case 'K':
      case 'g':
      case 'k':
      case 'y':
      case 'Y':
      case 'O':
      case 'N':
      case 'c':
      case 'C':
      case 'M':
      case 'Q':
      case 'E':
      case 'V':
      case 'v':
        refuse(fmt::format("\\{}", c));
      default:
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
    const std::string& more = additions(name);
    const std::string own = fmt::format("\\{}{{{}}}", negated ? 'P' : 'p', name);
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
  bool in_class_ = false;
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
