// Memory for a part of a kernel's work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tlaloc/base/large_memory.h"

namespace tlaloc::cpu {

/// Bytes aligned to 64, with any content. std::bad_alloc where there are none.
class AlignedMemory {
 public:
  // Aligned by hand: what aligned allocations give back is too small for the next one.
  explicit AlignedMemory(std::size_t bytes)
      : bytes_(bytes + kAlignment), memory_(static_cast<std::byte*>(take_memory(bytes_))) {}
  ~AlignedMemory() { give_memory(memory_, bytes_); }
  AlignedMemory(const AlignedMemory&) = delete;
  AlignedMemory& operator=(const AlignedMemory&) = delete;

  std::byte* get() const {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_);
    return memory_ + (kAlignment - at % kAlignment) % kAlignment;
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::size_t bytes_;
  std::byte* memory_;
};

/// The same until the end of a scope. Where there is little of it, it is the thread's own, and
/// taking it costs nothing: the C library takes microseconds for some tens of KiB that come and go,
/// which is as long as a small kernel takes.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  /// Behind what the scopes around this one have.
  static void* operator new(std::size_t) = delete;

  std::byte* get() const { return memory_; }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;  ///< of the thread's
  std::optional<AlignedMemory> own_;
};

}  // namespace tlaloc::cpu
