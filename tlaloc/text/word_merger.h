// Merging the symbols of a word, the pair of the lowest rank first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tlaloc/text/bpe.h"
#include "tlaloc/text/hash.h"

namespace tlaloc::text {

/// Which pairs of tokens merge, when, and to what.
class MergeTable {
 public:
  static constexpr std::uint32_t kNoRank = std::numeric_limits<std::uint32_t>::max();
  struct Found {
    std::uint32_t rank = kNoRank;
    TokenId result = -1;
  };

  /// Of a pair that stands twice the last counts.
  explicit MergeTable(const std::vector<Merge>& merges);

  Found find(TokenId left, TokenId right) const {
    for (std::size_t i = place(left, right);; i = (i + 1) & mask_) {
      if (is(slots_[i], left, right)) return slots_[i].found;
      if (slots_[i].found.rank == kNoRank) return {};
    }
  }
  /// One more than the largest rank.
  std::size_t ranks() const { return ranks_; }

 private:
  struct Slot {
    TokenId left = -1, right = -1;
    Found found;
  };
  static bool is(const Slot& s, TokenId left, TokenId right) {
    return s.left == left && s.right == right;
  }
  std::size_t place(TokenId left, TokenId right) const {
    return hash_integer(static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right),
                        seed_) &
           mask_;
  }
  std::uint64_t seed_ = hash_seed();
  std::vector<Slot> slots_;
  std::size_t mask_, ranks_ = 0;
};

struct Symbol {
  TokenId id;
  std::uint32_t length;         // bytes; 0 where it was merged into the one before
  MergeTable::Found pair = {};  // with the next one
  std::uint32_t previous = 0, next = 0;
};

/// The symbols of a word, and room to merge them in; of one thread at a time.
class WordMerger {
 public:
  std::vector<Symbol> symbols;

  /// Merges until no pair is left. In time linear in the symbols if each merge that makes a token
  /// has a lower rank than all that take it, as in tables that come from training; else in
  /// O(n log n). UserError TL-TOKENIZER-003 for a word of more than kMostSymbols.
  void merge(const MergeTable& merges);

  /// Up to twice as many places wait in lists, by numbers of 32 bits.
  static constexpr std::size_t kMostSymbols = std::size_t{1} << 31;
  static void check_count(std::size_t symbols);
  /// Of the room that grows with a word.
  std::size_t bytes() const;

 private:
  void merge_few(const MergeTable& merges);
  void merge_many(const MergeTable& merges);
  void push(std::uint32_t i);
  bool pop(std::uint32_t& rank, std::uint32_t& i);
  void sort_row();

  // Of many symbols: for each rank a list of the places where it is, and the ranks that have one.
  struct Node {
    std::uint32_t place, next;
  };
  std::vector<std::uint32_t> lists_;  // by rank, one more than the first node; 0 for none
  std::vector<Node> nodes_;
  std::uint32_t free_ = 0;                  // the list of nodes that no other list has
  std::vector<std::uint32_t> ranks_;        // a heap
  std::vector<std::uint32_t> row_, other_;  // the places of the rank at hand from left to right
  std::size_t at_ = 0;
  std::int64_t rank_ = -1;
  std::vector<std::uint64_t> late_;  // a heap of ranks up to that one, which came up since
};

}  // namespace tlaloc::text
