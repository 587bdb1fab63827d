#include "tlaloc/cache/store.h"

#include <cstdio>

#include "tlaloc/base/error.h"

namespace tlaloc::cache {

Store::Store(const Settings& settings) {
  if (!settings.folder) return;
  try {
    disk_ = std::make_unique<DiskCache>(*settings.folder, settings.bytes);
  } catch (const EnvironmentError& e) {
    complain(e);
  }
}

std::optional<std::vector<std::byte>> Store::find(const Digest& key) const {
  return disk_ ? disk_->find(key) : std::nullopt;
}

bool Store::store(const Digest& key, std::span<const std::byte> bytes) {
  if (!disk_) return false;
  try {
    return disk_->store(key, bytes);
  } catch (const EnvironmentError& e) {
    complain(e);
    return false;
  }
}

void Store::complain(const Error& error) {
  std::call_once(complained_, [&] { std::fprintf(stderr, "tlaloc: %s\n", error.what()); });
}

}  // namespace tlaloc::cache
