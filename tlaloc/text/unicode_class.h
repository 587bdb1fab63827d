// Classes of characters, as the package tokenizers has them.
#pragma once

#include <cstdint>
#include <vector>

namespace tlaloc::text {

/// Bits of a character's classes; unicode_classes.py says what each is asked from.
enum CharClass : std::uint16_t {
  kLetter = 1 << 0,       ///< \p{L}
  kNumber = 1 << 1,       ///< \p{N}
  kSpace = 1 << 2,        ///< \s, White_Space
  kMark = 1 << 3,         ///< \p{M}
  kUpper = 1 << 4,        ///< \p{Lu} and \p{Lt}
  kLower = 1 << 5,        ///< \p{Ll}
  kPunctuation = 1 << 6,  ///< \p{P}
  kWord = 1 << 7,         ///< \w of the pre-tokenizer Whitespace
  kBertPunctuation = 1 << 8,
  kNumeric = 1 << 9,        ///< what Digits splits at
  kControl = 1 << 10,       ///< what BertNormalizer cleans away
  kNonspacing = 1 << 11,    ///< what BertNormalizer takes for an accent
  kCombining = 1 << 12,     ///< what StripAccents takes for one
  kNotNormalized = 1 << 13  ///< what NFC to NFKD leave alone, being younger than their tables
};

/// The table of classes: pages of 256 characters, equal ones shared.
class CharClasses {
 public:
  static const CharClasses& get();
  std::uint16_t operator[](char32_t c) const { return entries_[pages_[c >> 8] + (c & 0xFF)]; }

 private:
  CharClasses();
  std::uint32_t pages_[0x1100];
  std::vector<std::uint16_t> entries_;
};

/// The first character of the lower case of `c`. Only U+0130 has a second, U+0307.
char32_t lower_case(char32_t c);

}  // namespace tlaloc::text
