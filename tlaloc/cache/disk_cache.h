// Compiled programs on disk, for any number of processes of one user.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/base/digest.h"

namespace tlaloc::cache {

/// A folder of files, one for each key. Whoever can write there decides what runs in this process:
/// the folder must belong to the user and be closed to all others, and so must each file. A file
/// appears whole or not at all; one that is damaged or another's is as if it were not there.
///
/// Safe to use from any thread, and from several processes at once.
class DiskCache {
 public:
  /// Makes the folder, with mode 0700, where there is none. `max_bytes` bounds the sum of the file
  /// sizes: it is exceeded by an eighth of it for each object that writes, at most.
  /// EnvironmentError TL-CACHE-001 where there can be no such folder.
  DiskCache(const std::filesystem::path& folder, std::uint64_t max_bytes, uid_t user = geteuid());
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  std::optional<std::vector<std::byte>> find(const Digest& key) const;
  /// Replaces what there is. False for what is larger than an eighth of `max_bytes`, which is not
  /// kept. EnvironmentError TL-CACHE-001 where it can't be written.
  bool store(const Digest& key, std::span<const std::byte> bytes);

 private:
  void write(const std::string& name, std::span<const std::byte> bytes);
  void trim();
  std::uint64_t largest() const { return max_bytes_ / 8; }

  std::filesystem::path path_;  // for messages
  std::uint64_t max_bytes_;
  uid_t user_;
  int folder_ = -1;
  std::mutex mutex_;
  std::uint64_t untrimmed_;  // bytes that may have been added since trim()
};

}  // namespace tlaloc::cache
