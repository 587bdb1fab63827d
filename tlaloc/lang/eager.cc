#include "tlaloc/lang/eager.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tlaloc::core {
namespace {

std::size_t hash_of(const EagerKey& key) {
  std::size_t h = std::bit_cast<std::uintptr_t>(key.name) ^ std::bit_cast<std::uintptr_t>(key.site);
  const auto add = [&](std::size_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    h ^= h >> 29;
  };
  for (ir::Type t : key.types) add(t.hash());
  for (std::uint64_t w : key.variant.words()) add(w);
  return h;
}

struct Entry {
  const char* name;
  const void* site;
  std::vector<std::uint64_t> variant;
  std::vector<ir::Type> types;
  EagerRun run;
  bool is(const EagerKey& key) const {
    return name == key.name && site == key.site && std::ranges::equal(types, key.types) &&
           std::ranges::equal(variant, key.variant.words());
  }
};

/// A part of the table with a lock of its own, so that threads rarely meet.
struct Shard {
  std::mutex mutex;
  std::unordered_multimap<std::size_t, Entry> entries;
};
constexpr std::size_t kShards = 16, kMostPerShard = 32;

Shard& shard_of(std::size_t hash) {
  // Never destroyed: destructors of static objects may compute too.
  static auto& shards = *new std::array<Shard, kShards>;
  return shards[hash >> 60];
}
static_assert(kShards == 16, "four bits of the hash choose one");

}  // namespace

EagerRun find_compiled(const EagerKey& key) {
  const std::size_t hash = hash_of(key);
  Shard& shard = shard_of(hash);
  std::lock_guard lock(shard.mutex);
  const auto [first, last] = shard.entries.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (it->second.is(key)) return it->second.run;
  }
  return nullptr;
}

void remember_compiled(const EagerKey& key, EagerRun run) {
  const std::size_t hash = hash_of(key);
  Shard& shard = shard_of(hash);
  const auto words = key.variant.words();
  Entry entry{key.name,
              key.site,
              {words.begin(), words.end()},
              {key.types.begin(), key.types.end()},
              std::move(run)};
  decltype(shard.entries) dropped;
  std::lock_guard lock(shard.mutex);
  if (shard.entries.size() >= kMostPerShard) shard.entries.swap(dropped);
  shard.entries.emplace(hash, std::move(entry));
}

}  // namespace tlaloc::core
