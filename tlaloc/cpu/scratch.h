// Memory for a part of a kernel's work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tlaloc::cpu {

/// Bytes aligned to 64, with any content. std::bad_alloc where there are none.
class Scratch {
 public:
  // Aligned by hand: what aligned allocations give back is too small for the next one.
  explicit Scratch(std::size_t bytes) : memory_(new std::byte[bytes + kAlignment]) {}
  std::byte* get() const {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.get());
    return memory_.get() + (kAlignment - at % kAlignment) % kAlignment;
  }

 private:
  static constexpr std::size_t kAlignment = 64;
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace tlaloc::cpu
