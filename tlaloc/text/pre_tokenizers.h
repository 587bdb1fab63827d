// What splits a text into the pieces that a model tokenizes one by one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/text/aligned_text.h"
#include "tlaloc/text/cuts.h"
#include "tlaloc/text/regex.h"
#include "tlaloc/text/word_scanner.h"

namespace tlaloc::text {

/// A text and its pieces, in order; what lies between pieces was removed.
struct Pieces {
  AlignedText text;
  std::vector<Range> ranges;
  std::vector<Range> next;  // room for the next step
};

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void apply(Pieces& pieces) const = 0;
};
using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

enum class PrependScheme { kFirst, kNever, kAlways };

/// By a scanner where the pattern is one of the known ones and isolates; else by PCRE2.
PreTokenizerPtr make_split(std::string_view regex, Behavior behavior, bool invert,
                           const std::string& place);
/// The same by PCRE2 whatever the pattern: the reference for the scanners.
PreTokenizerPtr make_regex_split(std::string_view regex, Behavior behavior, bool invert,
                                 const std::string& place);
PreTokenizerPtr make_digits(bool individual);
PreTokenizerPtr make_punctuation(Behavior behavior);
PreTokenizerPtr make_whitespace();
PreTokenizerPtr make_whitespace_split();
PreTokenizerPtr make_script_split();
PreTokenizerPtr make_bert_split();
PreTokenizerPtr make_char_delimiter(char32_t delimiter);
PreTokenizerPtr make_fixed_length(std::uint32_t length);
PreTokenizerPtr make_metaspace(char32_t replacement, PrependScheme scheme, bool split);
/// A space in front of each piece that has none.
PreTokenizerPtr make_prefix_space();
/// Each byte becomes the character that stands for it.
PreTokenizerPtr make_byte_level_map();

}  // namespace tlaloc::text
