// The builder's table of nodes by content; internal to ir.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tlaloc/ir/builder.h"

namespace tlaloc::ir {

std::uint64_t hash_node(const OpDef& op, const Attr* attr, std::span<const Val> in,
                        std::span<const Region> regions);

/// A table of node indices in buckets of a cache line; the nodes themselves hold the keys.
///
/// A node is looked for in the bucket of its last operand first. What is traced or copied reads
/// what came just before, so neighbours in the program are neighbours here, and a long chain costs
/// no cache miss per node. Where that bucket is full (many readers of one value) the hash says
/// where to go on.
struct Builder::Interner {
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t node = kNoNode;
  };
  struct alignas(64) Bucket {
    std::array<Slot, 8> slots;
  };
  struct Key {
    std::uint32_t hash;
    std::uint32_t last_operand;  ///< the greatest operand's id; the hash where there is none
  };
  std::vector<Bucket> buckets = std::vector<Bucket>(8);
  std::size_t used = 0;

  template <class Equal>
  std::optional<std::uint32_t> find(Key key, const Equal& equal) const {
    for (std::size_t b = first(key), probe = 0;; b = next(key, ++probe)) {
      for (const Slot& s : buckets[b].slots) {
        if (s.node == kNoNode) return std::nullopt;
        if (s.hash == key.hash && equal(s.node)) return s.node;
      }
    }
  }
  /// `last_operand(node)` tells it of those that move when the table grows.
  template <class LastOperand>
  void insert(Key key, std::uint32_t node, const LastOperand& last_operand) {
    if (2 * (used + 1) > 8 * buckets.size()) grow(2 * buckets.size(), last_operand);
    place(key, node);
    ++used;
  }
  /// Makes room for so many more.
  template <class LastOperand>
  void expect(std::size_t more, const LastOperand& last_operand) {
    std::size_t count = buckets.size();
    while (2 * (used + more) > 8 * count) count *= 2;
    if (count > buckets.size()) grow(count, last_operand);
  }

 private:
  std::size_t mask() const { return buckets.size() - 1; }
  // At most half of the slots are used, so with one new value per node four ids share a bucket.
  std::size_t first(Key key) const { return (key.last_operand >> 2) & mask(); }
  std::size_t next(Key key, std::size_t probe) const {
    return ((key.hash * std::size_t{0x9e3779b97f4a7c15u} >> 32) + probe) & mask();
  }
  void place(Key key, std::uint32_t node) {
    for (std::size_t b = first(key), probe = 0;; b = next(key, ++probe)) {
      for (Slot& s : buckets[b].slots) {
        if (s.node != kNoNode) continue;
        s = {key.hash, node};
        return;
      }
    }
  }
  template <class LastOperand>
  void grow(std::size_t count, const LastOperand& last_operand) {
    std::vector<Bucket> old(count);
    old.swap(buckets);
    for (const Bucket& b : old) {
      for (const Slot& s : b.slots) {
        if (s.node == kNoNode) continue;
        const std::optional<std::uint32_t> last = last_operand(s.node);
        place({s.hash, last ? *last : s.hash}, s.node);
      }
    }
  }
};

}  // namespace tlaloc::ir
