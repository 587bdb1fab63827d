// Hand-written scanners of the patterns that most byte-level tokenizers split words with.
#pragma once

#include <string_view>
#include <vector>

#include "tlaloc/text/aligned_text.h"

namespace tlaloc::text {

/// The patterns, each of which covers any text with matches.
enum class WordPattern {
  kNone,
  kGpt2,    ///< 's|'t|… | ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  kLlama3,  ///< (?i:'s|…)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|…
  kQwen2    ///< the same with one number at a time
};

/// Which of them a pattern is, by its text.
WordPattern word_pattern(std::string_view regex);
/// The text of a pattern.
std::string_view word_pattern_text(WordPattern pattern);

/// Three digits at a time, counted from the end of a number: matching it takes time quadratic in
/// the digits of one.
inline constexpr std::string_view kThousands = R"(\d{1,3}(?=(?:\d{3})*\b))";

/// Appends the words of a piece.
void scan_words(WordPattern pattern, std::string_view text, Range piece, std::vector<Range>& out);

}  // namespace tlaloc::text
