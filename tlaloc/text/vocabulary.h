// Tokens and their ids.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tlaloc::text {

using TokenId = std::int32_t;

/// More ids than any model has; what a file may make us allocate.
inline constexpr std::int64_t kMostIds = 1 << 24;

class Vocabulary {
 public:
  Vocabulary() = default;
  /// Room for so many tokens with so many bytes.
  void reserve(std::size_t tokens, std::size_t bytes);
  /// False where the token, or the id, is there already. `id` is below kMostIds. The table of
  /// strings is made by index().
  bool add(std::string_view token, TokenId id);
  /// Makes find() work; gives the first token that stands twice, or -1. The last one counts.
  TokenId index();

  /// -1 where there is none.
  TokenId find(std::string_view token) const;
  bool contains(TokenId id) const {
    return id >= 0 && static_cast<std::size_t>(id) < entries_.size() && entries_[at(id)].used;
  }
  /// Empty for an id that is not there.
  std::string_view token(TokenId id) const {
    return contains(id)
               ? std::string_view(bytes_).substr(entries_[at(id)].first, entries_[at(id)].length)
               : std::string_view();
  }
  /// How many tokens there are, and one more than the largest id.
  std::size_t size() const { return count_; }
  TokenId bound() const { return static_cast<TokenId>(entries_.size()); }
  /// Brings the place in the table that find(token) looks at nearer, and gives the hash.
  std::uint64_t prefetch(std::string_view token) const;
  /// Once that is there, brings the text nearer that find() compares with.
  void prefetch_text(std::uint64_t hash) const;
  TokenId find(std::string_view token, std::uint64_t hash) const;

 private:
  static std::size_t at(TokenId id) { return static_cast<std::size_t>(id); }
  struct Entry {
    std::uint32_t first = 0, length : 31 = 0, used : 1 = 0;
  };
  struct Slot {
    std::uint32_t tag = 0;
    TokenId id = -1;
  };
  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t count_ = 0;
};

}  // namespace tlaloc::text
