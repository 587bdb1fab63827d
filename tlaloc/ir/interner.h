// The builder's table of nodes by content; internal to ir.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tlaloc/ir/builder.h"

namespace tlaloc::ir {

std::uint64_t hash_node(const OpDef& op, const Attr* attr, std::span<const Val> in,
                        std::span<const Region> regions);

/// Open addressing over node indices; the nodes themselves hold the keys.
struct Builder::Interner {
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t node = kNoNode;
  };
  std::vector<Slot> slots = std::vector<Slot>(64);
  std::size_t used = 0;

  template <class Equal>
  std::optional<std::uint32_t> find(std::uint64_t hash, const Equal& equal) const {
    for (std::size_t i = hash & (slots.size() - 1);; i = (i + 1) & (slots.size() - 1)) {
      const Slot& s = slots[i];
      if (s.node == kNoNode) return std::nullopt;
      if (s.hash == hash && equal(s.node)) return s.node;
    }
  }
  void insert(std::uint64_t hash, std::uint32_t node) {
    if (2 * (used + 1) > slots.size()) grow();
    place(hash, node);
    ++used;
  }

 private:
  void place(std::uint64_t hash, std::uint32_t node) {
    std::size_t i = hash & (slots.size() - 1);
    while (slots[i].node != kNoNode) i = (i + 1) & (slots.size() - 1);
    slots[i] = {hash, node};
  }
  void grow() {
    std::vector<Slot> old(slots.size() * 2);
    old.swap(slots);
    for (const Slot& s : old) {
      if (s.node != kNoNode) place(s.hash, s.node);
    }
  }
};

}  // namespace tlaloc::ir
