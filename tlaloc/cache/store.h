// The cache as its users have it: a help, without which everything works.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/cache/disk_cache.h"
#include "tlaloc/cache/settings.h"

namespace tlaloc::cache {

/// A disk cache where there may be one. What is wrong with it is written to standard error, once.
/// Safe to use from any thread.
class Store {
 public:
  explicit Store(const Settings& settings);

  bool kept() const { return disk_ != nullptr; }
  std::optional<std::vector<std::byte>> find(const Digest& key) const;
  /// Whether it is kept.
  bool store(const Digest& key, std::span<const std::byte> bytes);

 private:
  void complain(const Error& error);

  std::unique_ptr<DiskCache> disk_;  // null: none
  std::once_flag complained_;
};

}  // namespace tlaloc::cache
