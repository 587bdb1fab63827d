#include "tlaloc/cpu/arena.h"

#include <algorithm>
#include <map>
#include <queue>

#include "tlaloc/base/checked.h"

namespace tlaloc::cpu {
namespace {

/// A cache line: storages never share one.
constexpr std::size_t kAlignment = 64;

class FreeList {
 public:
  /// The smallest free block that fits, else new memory behind all others.
  std::size_t take(std::size_t bytes) {
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
    }
    if (best == free_.end()) {
      std::size_t at = end_;
      // What is free at the end is part of it.
      if (!free_.empty() && free_.rbegin()->first + free_.rbegin()->second == end_) {
        at = free_.rbegin()->first;
        free_.erase(at);
      }
      end_ = at + bytes;
      return at;
    }
    const auto [at, size] = *best;
    free_.erase(best);
    if (size > bytes) free_.emplace(at + bytes, size - bytes);
    return at;
  }
  void give(std::size_t at, std::size_t bytes) {
    const auto it = free_.emplace(at, bytes).first;
    if (const auto next = std::next(it); next != free_.end() && at + it->second == next->first) {
      it->second += next->second;
      free_.erase(next);
    }
    if (it == free_.begin()) return;
    if (const auto before = std::prev(it); before->first + before->second == at) {
      before->second += it->second;
      free_.erase(it);
    }
  }
  std::size_t end() const { return end_; }

 private:
  std::map<std::size_t, std::size_t> free_;  // offset -> bytes
  std::size_t end_ = 0;
};

}  // namespace

ArenaPlan plan_arena(const Program& p, const std::vector<std::int64_t>& slots) {
  ArenaPlan plan;
  plan.offsets.resize(p.storages.size());
  std::vector<StorageId> order;
  for (StorageId s = 0; s < p.storages.size(); ++s) {
    if (p.storages[s].kind == Storage::Kind::planned) order.push_back(s);
  }
  std::ranges::stable_sort(order, {}, [&](StorageId s) { return p.storages[s].first; });
  struct Held {
    std::uint32_t last;
    std::size_t at, bytes;
    bool operator>(const Held& o) const { return last > o.last; }
  };
  std::priority_queue<Held, std::vector<Held>, std::greater<>> held;
  FreeList free;
  for (StorageId s : order) {
    const Storage& storage = p.storages[s];
    const std::int64_t elements = slots[storage.elements];
    if (elements == kPoison) throw_size_overflow();
    // A negative size is found by the check in front of what would write there.
    if (elements <= 0) continue;
    for (; !held.empty() && held.top().last < storage.first; held.pop()) {
      free.give(held.top().at, held.top().bytes);
    }
    const auto wanted = usize(checked_mul(elements, byte_size(storage.dtype)));
    const std::size_t bytes = (wanted + kAlignment - 1) / kAlignment * kAlignment;
    plan.offsets[s] = free.take(bytes);
    held.push({storage.last, plan.offsets[s], bytes});
  }
  plan.bytes = free.end();
  return plan;
}

}  // namespace tlaloc::cpu
