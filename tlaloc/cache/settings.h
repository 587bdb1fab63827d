// What the environment says of the cache.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tlaloc::cache {

class DiskCache;

struct Settings {
  /// TLALOC_CACHE_DIR, or tlaloc in XDG_CACHE_HOME or in ~/.cache; empty where neither is known;
  /// nullopt with TLALOC_CACHE=off.
  std::optional<std::string> folder;
  std::uint64_t bytes = std::uint64_t{512} << 20;  ///< TLALOC_CACHE_BYTES
};

/// UserError TL-ENV-001 for a value that is not understood.
Settings settings_from_environment();

}  // namespace tlaloc::cache
