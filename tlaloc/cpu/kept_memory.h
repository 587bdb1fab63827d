// Memory for what a program keeps between runs.
#pragma once

#include <cstddef>

namespace tlaloc::cpu {

/// One piece for all of it, by large pages where the system has them: what is read from end to end
/// in every run takes longer to find than to read by small ones. On Zen 4 in a virtual machine one
/// thread reads 25 GB/s instead of 15 to 20. Pages that nobody wrote take no memory.
class KeptMemory {
 public:
  /// std::bad_alloc where there is none.
  explicit KeptMemory(std::size_t bytes);
  ~KeptMemory();
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  /// Where it begins, aligned to a large page.
  std::byte* get() const { return begin_; }

 private:
  std::size_t mapped_;
  void* map_;
  std::byte* begin_;
};

}  // namespace tlaloc::cpu
