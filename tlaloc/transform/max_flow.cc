#include "tlaloc/transform/max_flow.h"

#include <algorithm>
#include <limits>

namespace tlaloc::transform {
namespace {
constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max() / 4;
}

void MaxFlow::add_edge(std::size_t from, std::size_t to, std::int64_t capacity) {
  heads_[from].push_back(edges_.size());
  edges_.push_back({to, capacity});
  heads_[to].push_back(edges_.size());
  edges_.push_back({from, 0});
}

bool MaxFlow::levels(std::size_t source, std::size_t sink) {
  level_.assign(heads_.size(), -1);
  level_[source] = 0;
  std::vector<std::size_t> queue{source};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (std::size_t e : heads_[queue[i]]) {
      if (edges_[e].capacity > 0 && level_[edges_[e].to] < 0) {
        level_[edges_[e].to] = level_[queue[i]] + 1;
        queue.push_back(edges_[e].to);
      }
    }
  }
  return level_[sink] >= 0;
}

/// One augmenting path of the level graph; 0 when there is none left.
std::int64_t MaxFlow::push(std::size_t source, std::size_t sink) {
  std::vector<std::size_t> path;
  std::size_t at = source;
  while (at != sink) {
    bool advanced = false;
    for (std::size_t& i = next_[at]; i < heads_[at].size(); ++i) {
      const Edge& e = edges_[heads_[at][i]];
      if (e.capacity > 0 && level_[e.to] == level_[at] + 1) {
        path.push_back(heads_[at][i]);
        at = e.to;
        advanced = true;
        break;
      }
    }
    if (advanced) continue;
    if (path.empty()) return 0;
    level_[at] = -1;  // a dead end
    at = edges_[path.back() ^ 1].to;
    path.pop_back();
  }
  std::int64_t amount = kInfinite;
  for (std::size_t e : path) amount = std::min(amount, edges_[e].capacity);
  for (std::size_t e : path) {
    edges_[e].capacity -= amount;
    edges_[e ^ 1].capacity += amount;
  }
  return amount;
}

std::int64_t MaxFlow::run(std::size_t source, std::size_t sink) {
  std::int64_t total = 0;
  while (total < kInfinite && levels(source, sink)) {
    next_.assign(heads_.size(), 0);
    while (total < kInfinite) {
      const std::int64_t amount = push(source, sink);
      if (amount == 0) break;
      total = std::min(total + amount, kInfinite);
    }
  }
  return total;
}

std::vector<bool> MaxFlow::reaches_sink(std::size_t sink) const {
  std::vector<bool> seen(heads_.size());
  seen[sink] = true;
  std::vector<std::size_t> queue{sink};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (std::size_t e : heads_[queue[i]]) {
      const std::size_t from = edges_[e].to;  // the edge from -> queue[i] is e ^ 1
      if (edges_[e ^ 1].capacity > 0 && !seen[from]) {
        seen[from] = true;
        queue.push_back(from);
      }
    }
  }
  return seen;
}

}  // namespace tlaloc::transform
