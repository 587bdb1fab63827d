#include "tlaloc/cpu/kept_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace tlaloc::cpu {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

}  // namespace

KeptMemory::KeptMemory(std::size_t bytes)
    : mapped_((bytes + kLargePage - 1) / kLargePage * kLargePage + kLargePage),
      map_(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  if (map_ == MAP_FAILED) throw std::bad_alloc();
  const auto at = reinterpret_cast<std::uintptr_t>(map_);
  begin_ = static_cast<std::byte*>(map_) + (kLargePage - at % kLargePage) % kLargePage;
  // A wish: a system without large pages has small ones. What does not fill one has small ones too.
  if (const std::size_t whole = bytes / kLargePage * kLargePage; whole > 0) {
    madvise(begin_, whole, MADV_HUGEPAGE);
  }
}
KeptMemory::~KeptMemory() { munmap(map_, mapped_); }

}  // namespace tlaloc::cpu
