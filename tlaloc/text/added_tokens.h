// Tokens that are looked for in a text before anything else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/text/aligned_text.h"
#include "tlaloc/text/vocabulary.h"

namespace tlaloc::text {

struct AddedToken {
  TokenId id = -1;
  std::string content;
  bool single_word = false, lstrip = false, rstrip = false, normalized = false, special = false;
};

/// Finds tokens in a text: at each place the longest.
class TokenFinder {
 public:
  struct Found {
    Range range;
    const AddedToken* token;  // null for what lies between
  };

  /// `contents[i]` is what to look for in place of `tokens[i]`; no two are the same. The tokens
  /// must stay.
  TokenFinder(const std::vector<const AddedToken*>& tokens, std::vector<std::string> contents);
  /// The text in parts, in order; those that are empty are left out. With `no_special`, special
  /// tokens are text like any other.
  void find(std::string_view text, bool no_special, std::vector<Found>& out) const;
  bool empty() const { return tokens_.empty(); }

 private:
  struct Node {
    std::uint32_t first_edge = 0;
    std::uint16_t edges = 0;
    std::int32_t token = -1;
  };
  struct Edge {
    unsigned char byte;
    std::uint32_t node;
  };
  /// The longest token at `text[at]`, -1 where there is none; `end` is where it ends.
  std::int32_t longest(std::string_view text, std::size_t at, std::size_t& end) const;
  std::size_t next_start(std::string_view text, std::size_t from) const;

  std::vector<const AddedToken*> tokens_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  bool starts_[256] = {};
  int only_start_ = -1;  // the byte that all tokens start with, if there is one
};

}  // namespace tlaloc::text
