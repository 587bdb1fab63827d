// Something that is made once for each list of sizes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tlaloc::stablehlo {

/// Safe to use from any thread: whoever comes first makes it; others that want the same wait, and
/// only they. What could not be made is tried again.
template <class T>
class PerSizes {
 public:
  /// `make` gives a std::unique_ptr<const T>.
  template <class Make>
  const T& get(const std::vector<std::int64_t>& sizes, const Make& make) {
    Entry* entry = nullptr;
    {
      const std::lock_guard lock(mutex_);
      entry = &entries_[sizes];  // stays where it is
    }
    const std::lock_guard lock(entry->mutex);
    if (!entry->made) entry->made = make();
    return *entry->made;
  }

 private:
  struct Entry {
    std::mutex mutex;
    std::unique_ptr<const T> made;
  };
  std::mutex mutex_;  // of the map, not of what its entries hold
  std::map<std::vector<std::int64_t>, Entry> entries_;
};

}  // namespace tlaloc::stablehlo
