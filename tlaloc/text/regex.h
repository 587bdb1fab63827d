// Regular expressions in Oniguruma's syntax, as tokenizer.json has them, run by PCRE2.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tlaloc/text/aligned_text.h"

namespace tlaloc::text {

class Regex {
 public:
  /// UserError TL-TOKENIZER-002 for what is no expression, or one whose parts PCRE2 reads in
  /// another way than Oniguruma does. `place` says where it stands.
  Regex(std::string_view pattern, const std::string& place);
  /// The first match in text[from, to), which is all that there is: nothing is seen around it.
  /// UserError TL-TOKENIZER-004 where a match takes too many steps.
  std::optional<Range> find(std::string_view text, Range within, std::uint32_t from) const;

 private:
  struct Code;
  std::shared_ptr<const Code> code_;
};

/// All matches in a range of a text, from left to right, without overlaps. An empty match does not
/// follow another one at its end.
class MatchIterator {
 public:
  MatchIterator(const Regex& regex, std::string_view text, Range within)
      : regex_(regex), text_(text), within_(within), from_(within.begin) {}
  std::optional<Range> next();

 private:
  const Regex& regex_;
  std::string_view text_;
  Range within_;
  std::uint32_t from_;
  bool matched_ = false, done_ = false;
};

/// The pattern for PCRE2. What differs between the two is written in PCRE2's way, or refused.
std::string to_pcre(std::string_view pattern, const std::string& place);

/// The expression that matches `text` itself.
std::string escape_regex(std::string_view text);

}  // namespace tlaloc::text
