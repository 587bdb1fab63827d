// Maximum flow by Dinic's algorithm, without recursion.
#pragma once

#include <cstdint>
#include <vector>

namespace tlaloc::transform {

/// One network after the other: `reset` keeps the memory, as most networks are tiny.
class MaxFlow {
 public:
  /// Forgets all edges; nodes are 0 … nodes-1.
  void reset(std::size_t nodes);
  void add_edge(std::size_t from, std::size_t to, std::int64_t capacity);
  /// The flow, saturating at a quarter of the int64 range.
  std::int64_t run(std::size_t source, std::size_t sink);
  /// After run: nodes from which the sink is reachable with spare capacity. Valid until the next
  /// call.
  const std::vector<std::uint8_t>& reaches_sink(std::size_t sink);

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~Index{0};
  struct Edge {
    Index to;
    Index next;             ///< another edge of the same node
    std::int64_t capacity;  ///< spare; edge i ^ 1 is the reverse of edge i
  };
  void add_half(Index from, Index to, std::int64_t capacity);
  bool levels(Index source, Index sink);
  std::int64_t push(Index source, Index sink);

  std::vector<Index> first_;  ///< by node: its edge added last
  std::vector<Edge> edges_;
  std::vector<std::int32_t> level_;
  std::vector<Index> next_;  ///< by node: the edge that `push` tries next
  std::vector<Index> queue_, path_;
  std::vector<std::uint8_t> seen_;
};

}  // namespace tlaloc::transform
