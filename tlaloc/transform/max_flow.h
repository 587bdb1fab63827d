// Maximum flow by Dinic's algorithm, without recursion.
#pragma once

#include <cstdint>
#include <vector>

namespace tlaloc::transform {

class MaxFlow {
 public:
  explicit MaxFlow(std::size_t nodes) : heads_(nodes) {}
  void add_edge(std::size_t from, std::size_t to, std::int64_t capacity);
  /// The flow, saturating at a quarter of the int64 range.
  std::int64_t run(std::size_t source, std::size_t sink);
  /// After run: nodes from which the sink is reachable with spare capacity.
  std::vector<bool> reaches_sink(std::size_t sink) const;

 private:
  struct Edge {
    std::size_t to;
    std::int64_t capacity;  ///< spare; edge i ^ 1 is the reverse of edge i
  };
  bool levels(std::size_t source, std::size_t sink);
  std::int64_t push(std::size_t source, std::size_t sink);

  std::vector<std::vector<std::size_t>> heads_;
  std::vector<Edge> edges_;
  std::vector<std::int64_t> level_;
  std::vector<std::size_t> next_;
};

}  // namespace tlaloc::transform
