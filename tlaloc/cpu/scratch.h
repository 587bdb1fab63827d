// Memory for a part of a kernel's work.
#pragma once

#include <cstddef>
#include <new>

namespace tlaloc::cpu {

/// Bytes aligned to 64, with any content. std::bad_alloc where there are none.
class Scratch {
 public:
  explicit Scratch(std::size_t bytes)
      : memory_(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64}))) {}
  ~Scratch() { ::operator delete(memory_, std::align_val_t{64}); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* get() const { return memory_; }

 private:
  std::byte* memory_;
};

}  // namespace tlaloc::cpu
