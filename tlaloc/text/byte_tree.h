// Finds the tokens that a text starts with.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tlaloc/text/hash.h"
#include "tlaloc/text/vocabulary.h"

namespace tlaloc::text {

/// The tokens as a tree of bytes: edges in one hash table.
class ByteTree {
 public:
  explicit ByteTree(const Vocabulary& vocabulary) {
    std::size_t bytes = 0;
    for (TokenId id = 0; id < vocabulary.bound(); ++id) bytes += vocabulary.token(id).size();
    // There are no more edges than bytes.
    slots_.assign(std::bit_ceil(bytes * 2 + 2), {});
    ids_.push_back(-1);
    for (TokenId id = 0; id < vocabulary.bound(); ++id) {
      const std::string_view token = vocabulary.token(id);
      std::uint32_t node = 0;
      for (char c : token) node = child(node, static_cast<unsigned char>(c));
      // Of a token that stands twice the last counts.
      if (!token.empty()) ids_[node] = id;
    }
  }

  /// Calls `found(length, id)` for the tokens that `s` starts with, from short to long.
  template <class F>
  void prefixes(std::string_view s, F found) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      node = find(node, static_cast<unsigned char>(s[i]));
      if (node == 0) return;
      if (ids_[node] >= 0) found(i + 1, ids_[node]);
    }
  }

 private:
  struct Slot {
    std::uint64_t edge = ~std::uint64_t{0};
    std::uint32_t node = 0;
  };
  static std::uint64_t edge(std::uint32_t node, unsigned char byte) {
    return std::uint64_t{node} << 8 | byte;
  }
  std::uint32_t find(std::uint32_t node, unsigned char byte) const {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t e = edge(node, byte);
    for (std::size_t i = hash_integer(e, seed_) & mask; slots_[i].node != 0; i = (i + 1) & mask) {
      if (slots_[i].edge == e) return slots_[i].node;
    }
    return 0;
  }
  std::uint32_t child(std::uint32_t node, unsigned char byte) {
    const std::size_t mask = slots_.size() - 1;
    const std::uint64_t e = edge(node, byte);
    std::size_t i = hash_integer(e, seed_) & mask;
    for (; slots_[i].node != 0; i = (i + 1) & mask) {
      if (slots_[i].edge == e) return slots_[i].node;
    }
    slots_[i] = {e, static_cast<std::uint32_t>(ids_.size())};
    ids_.push_back(-1);
    return slots_[i].node;
  }
  std::uint64_t seed_ = hash_seed();
  std::vector<Slot> slots_;
  std::vector<TokenId> ids_;  // of the token that ends at a node
};

}  // namespace tlaloc::text
