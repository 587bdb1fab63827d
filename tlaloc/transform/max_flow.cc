#include "tlaloc/transform/max_flow.h"

#include <algorithm>
#include <limits>

namespace tlaloc::transform {
namespace {
constexpr std::int64_t kInfinite = std::numeric_limits<std::int64_t>::max() / 4;
}

void MaxFlow::reset(std::size_t nodes) {
  first_.assign(nodes, kNone);
  edges_.clear();
}

void MaxFlow::add_half(Index from, Index to, std::int64_t capacity) {
  edges_.push_back({to, first_[from], capacity});
  first_[from] = static_cast<Index>(edges_.size() - 1);
}
void MaxFlow::add_edge(std::size_t from, std::size_t to, std::int64_t capacity) {
  add_half(static_cast<Index>(from), static_cast<Index>(to), capacity);
  add_half(static_cast<Index>(to), static_cast<Index>(from), 0);
}

bool MaxFlow::levels(Index source, Index sink) {
  level_.assign(first_.size(), -1);
  level_[source] = 0;
  queue_.assign(1, source);
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    for (Index e = first_[queue_[i]]; e != kNone; e = edges_[e].next) {
      const Index to = edges_[e].to;
      if (edges_[e].capacity > 0 && level_[to] < 0) {
        level_[to] = level_[queue_[i]] + 1;
        queue_.push_back(to);
      }
    }
  }
  return level_[sink] >= 0;
}

/// One augmenting path of the level graph; 0 when there is none left.
std::int64_t MaxFlow::push(Index source, Index sink) {
  path_.clear();
  Index at = source;
  while (at != sink) {
    Index& e = next_[at];
    while (e != kNone && !(edges_[e].capacity > 0 && level_[edges_[e].to] == level_[at] + 1)) {
      e = edges_[e].next;
    }
    if (e != kNone) {
      path_.push_back(e);
      at = edges_[e].to;
      continue;
    }
    if (path_.empty()) return 0;
    level_[at] = -1;  // a dead end
    at = edges_[path_.back() ^ 1].to;
    path_.pop_back();
  }
  std::int64_t amount = kInfinite;
  for (Index e : path_) amount = std::min(amount, edges_[e].capacity);
  for (Index e : path_) {
    edges_[e].capacity -= amount;
    edges_[e ^ 1].capacity += amount;
  }
  return amount;
}

std::int64_t MaxFlow::run(std::size_t source, std::size_t sink) {
  const auto from = static_cast<Index>(source), to = static_cast<Index>(sink);
  std::int64_t total = 0;
  while (total < kInfinite && levels(from, to)) {
    next_ = first_;
    while (total < kInfinite) {
      const std::int64_t amount = push(from, to);
      if (amount == 0) break;
      total = std::min(total + amount, kInfinite);
    }
  }
  return total;
}

const std::vector<std::uint8_t>& MaxFlow::reaches_sink(std::size_t sink) {
  seen_.assign(first_.size(), 0);
  seen_[sink] = 1;
  queue_.assign(1, static_cast<Index>(sink));
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    for (Index e = first_[queue_[i]]; e != kNone; e = edges_[e].next) {
      const Index from = edges_[e].to;  // the edge from -> queue_[i] is e ^ 1
      if (edges_[e ^ 1].capacity > 0 && !seen_[from]) {
        seen_[from] = 1;
        queue_.push_back(from);
      }
    }
  }
  return seen_;
}

}  // namespace tlaloc::transform
