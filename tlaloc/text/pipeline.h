// The parts of a tokenizer, as a file describes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tlaloc/text/added_tokens.h"
#include "tlaloc/text/decoders.h"
#include "tlaloc/text/encoding.h"
#include "tlaloc/text/model.h"
#include "tlaloc/text/normalizers.h"
#include "tlaloc/text/pre_tokenizers.h"

namespace tlaloc::text {

/// What is put together when texts have become tokens: the texts and special tokens.
struct PostProcessor {
  struct Piece {
    enum Kind { kFirst, kSecond, kSpecial } kind;
    std::int32_t type_id;
    std::vector<TokenId> ids;  // of kSpecial
  };
  std::vector<Piece> single{{Piece::kFirst, 0, {}}};
  std::vector<Piece> pair{{Piece::kFirst, 0, {}}, {Piece::kSecond, 1, {}}};
  /// Offsets leave out whitespace at both ends of a token.
  bool trim_offsets = false;
  /// But a single space at the start of the text, which was added, is no part of it.
  bool add_prefix_space = false;
};

struct Pipeline {
  std::string name;  // of the file, for messages; may be empty
  std::vector<AddedToken> added_tokens;
  NormalizerPtr normalizer;  // may be null
  std::vector<PreTokenizerPtr> pre_tokenizers;
  PreTokenizerPtr byte_level;  // the last step, if it makes characters of bytes; else null
  ModelPtr model;
  PostProcessor post_processor;
  DecoderPtr decoder;  // null: tokens with spaces between
  std::optional<Truncation> truncation;
  std::optional<Padding> padding;
};

}  // namespace tlaloc::text
