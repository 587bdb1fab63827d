// Byte pair encoding.
#pragma once

#include <cstdint>
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

/// A merge: two tokens become one. A lower rank goes first, and of equal ones the leftmost.
struct Merge {
  TokenId left, right, result;
  std::uint32_t rank;
};

/// With `byte_level`, characters of pieces stand for bytes, so that raw text can be taken too.
ModelPtr make_bpe(Vocabulary vocabulary, std::vector<Merge> merges, BpeOptions options,
                  bool byte_level);

}  // namespace tlaloc::text
