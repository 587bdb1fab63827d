// Memory for a part of a kernel's work.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tlaloc/base/large_memory.h"

namespace tlaloc::cpu {

/// Bytes aligned to 64, with any content. std::bad_alloc where there are none.
class Scratch {
 public:
  // Aligned by hand: what aligned allocations give back is too small for the next one.
  explicit Scratch(std::size_t bytes)
      : bytes_(bytes + kAlignment), memory_(static_cast<std::byte*>(take_memory(bytes_))) {}
  ~Scratch() { give_memory(memory_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* get() const {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_);
    return memory_ + (kAlignment - at % kAlignment) % kAlignment;
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::size_t bytes_;
  std::byte* memory_;
};

}  // namespace tlaloc::cpu
