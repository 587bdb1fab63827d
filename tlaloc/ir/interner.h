// The builder's table of nodes by content; internal to ir.
#pragma once

#include <cstdint>
#include <vector>

#include "tlaloc/ir/builder.h"

namespace tlaloc::ir {

/// Hash of a node by op, attributes, operands and regions; types follow from those.
std::uint64_t hash_node(const OpDef& op, const Attr* attr, std::span<const Val> in,
                        std::span<const Region> regions);

/// Node indices by content; the nodes themselves hold the keys.
///
/// A node hangs in a list at its greatest operand. What is traced or copied reads what came just
/// before, so that list is short and lies beside what is being written: a long chain is interned
/// without a hash and without a cache miss per node. Where a list is full (many readers of one
/// value), and for nodes without operands, a hash table goes on.
class Builder::Interner {
 public:
  /// Where a lookup ended without success: what `insert` needs.
  struct Place {
    std::uint32_t value = kNoNode;  ///< the list's; kNoNode: the table
    std::uint32_t hash = 0;         ///< for the table
  };

  /// The node that `equal` accepts, or kNoNode and its place. `last`: the greatest operand's id,
  /// kNoNode where there is none. `hash` is asked only where the table is.
  template <class Equal, class Hash>
  std::uint32_t find(std::uint32_t last, const Equal& equal, const Hash& hash, Place& place) const {
    if (last != kNoNode) {
      int length = 0;
      const std::uint32_t first = last < first_.size() ? first_[last] : kNoNode;
      for (std::uint32_t node = first; node != kNoNode; node = next_[node], ++length) {
        if (equal(node)) return node;
      }
      place.value = last;
      if (length < kLongest) return kNoNode;
    }
    place = {kNoNode, static_cast<std::uint32_t>(hash() >> 32)};
    if (slots_.empty()) return kNoNode;
    for (std::size_t i = place.hash & mask();; i = (i + 1) & mask()) {
      const Slot& s = slots_[i];
      if (s.node == kNoNode) return kNoNode;
      if (s.hash == place.hash && equal(s.node)) return s.node;
    }
  }

  void insert(const Place& place, std::uint32_t node) {
    if (place.value == kNoNode) {
      if (2 * (used_ + 1) > slots_.size()) grow();
      fill(slots_, {place.hash, node});
      ++used_;
      return;
    }
    while (first_.size() <= place.value) first_.push_back(kNoNode);
    while (next_.size() <= node) next_.push_back(kNoNode);
    next_[node] = first_[place.value];
    first_[place.value] = node;
  }

  /// Makes room for ids below these.
  void reserve(std::size_t values, std::size_t nodes) {
    first_.reserve(values);
    next_.reserve(nodes);
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t node = kNoNode;
  };
  // A few comparisons of neighbours cost less than one hash.
  static constexpr int kLongest = 8;

  std::size_t mask() const { return slots_.size() - 1; }
  static void fill(std::vector<Slot>& slots, Slot slot) {
    const std::size_t mask = slots.size() - 1;
    std::size_t i = slot.hash & mask;
    while (slots[i].node != kNoNode) i = (i + 1) & mask;
    slots[i] = slot;
  }
  void grow() {
    std::vector<Slot> larger(slots_.empty() ? 16 : 2 * slots_.size());
    for (const Slot& s : slots_) {
      if (s.node != kNoNode) fill(larger, s);
    }
    slots_.swap(larger);
  }

  std::vector<std::uint32_t> first_;  ///< by value: a node that reads it last
  std::vector<std::uint32_t> next_;   ///< by node: the next one in its list
  std::vector<Slot> slots_;           ///< a power of two, half full at most
  std::size_t used_ = 0;
};

}  // namespace tlaloc::ir
