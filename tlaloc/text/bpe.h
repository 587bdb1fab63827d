// Byte pair encoding.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tlaloc/text/model.h"

namespace tlaloc::text {

struct BpeOptions {
  std::optional<std::string> unk_token;
  std::string continuing_subword_prefix, end_of_word_suffix;
  bool fuse_unk = false, byte_fallback = false, ignore_merges = false;
};

/// A merge: two tokens become one. A lower index in the list goes first.
struct Merge {
  TokenId left, right, result;
};

/// Whether the vocabulary has a token for each byte, so that a byte-level model can take raw text.
bool has_all_bytes(const Vocabulary& vocabulary);

/// With `raw_bytes` pieces are raw text, whose bytes stand for the characters of the byte level:
/// vocabulary has_all_bytes, and there is neither a prefix nor a suffix.
ModelPtr make_bpe(Vocabulary vocabulary, std::vector<Merge> merges, BpeOptions options,
                  bool raw_bytes);

}  // namespace tlaloc::text
