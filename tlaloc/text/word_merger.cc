#include "tlaloc/text/word_merger.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc::text {
namespace {

// Up to here, looking at all pairs for the next merge is faster than lists of them.
constexpr std::size_t kFew = 48;
// Up to here, sorting by comparisons is faster than by digits.
constexpr std::size_t kShortRow = 1024;

template <class T>
void push_heap(std::vector<T>& heap, T value) {
  heap.push_back(value);
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}
template <class T>
T pop_heap(std::vector<T>& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  const T value = heap.back();
  heap.pop_back();
  return value;
}

}  // namespace

MergeTable::MergeTable(const std::vector<Merge>& merges)
    : slots_(std::bit_ceil(merges.size() * 2 + 2)), mask_(slots_.size() - 1) {
  // The table is larger than caches: places are asked for ahead.
  constexpr std::size_t kAhead = 16;
  for (std::size_t k = 0; k < merges.size(); ++k) {
    if (k + kAhead < merges.size()) {
      const Merge& later = merges[k + kAhead];
      __builtin_prefetch(&slots_[place(later.left, later.right)]);
    }
    const Merge& m = merges[k];
    std::size_t i = place(m.left, m.right);
    while (slots_[i].found.rank != kNoRank && !is(slots_[i], m.left, m.right)) {
      i = (i + 1) & mask_;
    }
    slots_[i] = {m.left, m.right, {m.rank, m.result}};
    ranks_ = std::max(ranks_, std::size_t{m.rank} + 1);
  }
}

void WordMerger::check_count(std::size_t symbols) {
  if (symbols <= kMostSymbols) return;
  throw UserError({"TL-TOKENIZER-003",
                   "tokenizer",
                   fmt::format("a word of {} symbols is longer than the {} that can be merged",
                               symbols, kMostSymbols),
                   "encode the text in parts",
                   {}});
}

std::size_t WordMerger::bytes() const {
  return bytes_of(symbols) + bytes_of(nodes_) + bytes_of(row_) + bytes_of(other_) + bytes_of(late_);
}

void WordMerger::merge(const MergeTable& merges) {
  check_count(symbols.size());
  symbols.size() <= kFew ? merge_few(merges) : merge_many(merges);
}

/// Looks for the merge that goes first among all pairs, again and again.
void WordMerger::merge_few(const MergeTable& merges) {
  std::size_t n = symbols.size();
  auto set_pair = [&](std::size_t i) {
    symbols[i].pair = merges.find(symbols[i].id, symbols[i + 1].id);
  };
  for (std::size_t i = 0; i + 1 < n; ++i) set_pair(i);
  while (n > 1) {
    std::size_t best = 0;
    for (std::size_t i = 1; i + 1 < n; ++i) {
      if (symbols[i].pair.rank < symbols[best].pair.rank) best = i;
    }
    if (symbols[best].pair.rank == MergeTable::kNoRank) break;
    symbols[best].id = symbols[best].pair.result;
    symbols[best].length += symbols[best + 1].length;
    symbols[best].pair = symbols[best + 1].pair;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    --n;
    if (best + 1 < n) {
      set_pair(best);
    } else {
      symbols[best].pair = {};
    }
    if (best > 0) set_pair(best - 1);
  }
}

void WordMerger::merge_many(const MergeTable& merges) {
  const auto n = static_cast<std::uint32_t>(symbols.size());
  lists_.resize(merges.ranks());
  nodes_.clear();
  nodes_.reserve(n);
  free_ = 0;
  row_.clear();
  at_ = 0;
  rank_ = -1;
  auto set_pair = [&](std::uint32_t i) {
    symbols[i].pair = {};
    if (symbols[i].next == n) return;
    symbols[i].pair = merges.find(symbols[i].id, symbols[symbols[i].next].id);
    if (symbols[i].pair.rank != MergeTable::kNoRank) push(i);
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    symbols[i].previous = i - 1;
    symbols[i].next = i + 1;
    set_pair(i);
  }
  std::uint32_t rank, i;
  while (pop(rank, i)) {
    // What has changed since it came in stands there again, with its new rank.
    if (symbols[i].length == 0 || symbols[i].pair.rank != rank) continue;
    const std::uint32_t right = symbols[i].next;
    symbols[i].id = symbols[i].pair.result;
    symbols[i].length += symbols[right].length;
    symbols[i].next = symbols[right].next;
    symbols[right].length = 0;
    if (symbols[i].next != n) symbols[symbols[i].next].previous = i;
    set_pair(i);
    if (i > 0) set_pair(symbols[i].previous);
  }
}

void WordMerger::push(std::uint32_t i) {
  const std::uint32_t rank = symbols[i].pair.rank;
  if (rank <= rank_) return push_heap(late_, std::uint64_t{rank} << 32 | i);
  std::uint32_t& list = lists_[rank];
  if (list == 0) push_heap(ranks_, rank);
  if (free_ == 0) {
    nodes_.push_back({i, list});
    list = static_cast<std::uint32_t>(nodes_.size());
    return;
  }
  const std::uint32_t node = std::exchange(free_, nodes_[free_ - 1].next);
  nodes_[node - 1] = {i, std::exchange(list, node)};
}

/// The place of the lowest rank, and of these the leftmost; false where there is none.
bool WordMerger::pop(std::uint32_t& rank, std::uint32_t& i) {
  if (at_ == row_.size() && late_.empty()) {
    if (ranks_.empty()) return false;
    const std::uint32_t next = pop_heap(ranks_);
    rank_ = next;
    row_.clear();
    at_ = 0;
    const std::uint32_t first = std::exchange(lists_[next], 0);
    std::uint32_t last = first;
    for (std::uint32_t k = first; k != 0; k = nodes_[k - 1].next) {
      row_.push_back(nodes_[k - 1].place);
      last = k;
    }
    nodes_[last - 1].next = std::exchange(free_, first);
    std::reverse(row_.begin(), row_.end());
    sort_row();
  }
  std::uint64_t key;
  if (at_ == row_.size() ||
      (!late_.empty() && late_.front() < (static_cast<std::uint64_t>(rank_) << 32 | row_[at_]))) {
    key = pop_heap(late_);
  } else {
    key = static_cast<std::uint64_t>(rank_) << 32 | row_[at_++];
  }
  rank = static_cast<std::uint32_t>(key >> 32);
  i = static_cast<std::uint32_t>(key);
  return true;
}

/// Places come in from left to right for each rank whose merges make them: mostly in order.
void WordMerger::sort_row() {
  if (std::is_sorted(row_.begin(), row_.end())) return;
  if (row_.size() <= kShortRow) return std::sort(row_.begin(), row_.end());
  other_.resize(row_.size());
  for (unsigned shift = 0; shift < 32; shift += 8) {
    std::array<std::size_t, 256> first{};
    for (const std::uint32_t place : row_) ++first[place >> shift & 0xFF];
    std::size_t sum = 0;
    for (std::size_t& f : first) sum += std::exchange(f, sum);
    for (const std::uint32_t place : row_) other_[first[place >> shift & 0xFF]++] = place;
    row_.swap(other_);
  }
}

}  // namespace tlaloc::text
