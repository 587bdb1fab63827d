// Models that look words up: WordPiece and WordLevel.
#pragma once

#include <string>

#include "tlaloc/text/model.h"

namespace tlaloc::text {

struct WordPieceOptions {
  TokenId unk = -1;
  std::string continuing_subword_prefix = "##";
  std::uint32_t max_input_chars_per_word = 100;
};

/// The longest token first, from left to right; a word that has none anywhere is unknown.
ModelPtr make_wordpiece(Vocabulary vocabulary, WordPieceOptions options);
/// A word is a token, or unknown.
ModelPtr make_wordlevel(Vocabulary vocabulary, TokenId unk);

}  // namespace tlaloc::text
