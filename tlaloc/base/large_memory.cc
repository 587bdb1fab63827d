#include "tlaloc/base/large_memory.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <mutex>
#include <new>

namespace tlaloc {
namespace {

constexpr std::size_t kPage = 4096, kLargePage = std::size_t{2} << 20;
constexpr time_t kWindow = 10;  // seconds

/// Blocks come in eight sizes from one power of two to the next, so that one serves arrays of
/// nearly its size. Pages behind an array's end are never touched and cost nothing. A page more
/// keeps neighbours from being a power of two apart, where their elements at one index would meet
/// in one place of caches and predictors: four arrays of 256 MiB were read and written at 0.73 of
/// the speed. 0: too large.
std::size_t size_of_block(std::size_t bytes) {
  bytes = std::max(bytes, kLargeMemory);
  const std::size_t step = std::bit_floor(bytes) / 8;
  if (bytes > std::numeric_limits<std::size_t>::max() - step - kPage) return 0;
  return (bytes + step - 1) / step * step + kPage;
}

/// Pages of 2 MiB are first used in a fifth of the time, and found faster. All blocks would begin
/// at the same place of caches that are larger than a small page, so each begins some pages later
/// than the one before; it gives up that much of its first large page.
constexpr std::size_t kPlaces = 16;

/// With the pages before it.
void unmap(void* block, std::size_t size) {
  const std::size_t before =
      size < kLargePage ? 0 : reinterpret_cast<std::uintptr_t>(block) % kLargePage;
  munmap(static_cast<std::byte*>(block) - before, before + size);
}
/// A block of that size for an array of fewer bytes; nullptr where there are none.
void* map(std::size_t size, std::size_t array, std::size_t place) {
  const std::size_t before = size < kLargePage ? 0 : place * kPage;
  // Room to begin at a large page.
  const std::size_t bytes = before + size, room = size < kLargePage ? 0 : kLargePage - kPage;
  if (bytes > std::numeric_limits<std::size_t>::max() - room) return nullptr;
  void* all =
      mmap(nullptr, bytes + room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(all);
  if (room > 0) {
    const auto at = reinterpret_cast<std::uintptr_t>(all);
    const std::size_t skipped = (kLargePage - at % kLargePage) % kLargePage;
    begin += skipped;
    if (skipped > 0) munmap(all, skipped);
    if (skipped < room) munmap(begin + bytes, room - skipped);
    // A wish: a system without large pages has small ones. The array's end has small ones too, so
    // that it takes no more than it has.
    madvise(begin, (before + array) / kLargePage * kLargePage, MADV_HUGEPAGE);
  }
  return begin + before;
}

struct Kept {
  void* block;
  std::size_t size;
};
constexpr std::size_t kMost = 64;  // blocks; a search among them costs nothing beside their use

/// Blocks that go back to the system with this object: the pages of gigabytes take a while, for
/// which nobody else should wait. So it is made before the lock is taken.
class Freed {
 public:
  Freed() = default;
  Freed(const Freed&) = delete;
  Freed& operator=(const Freed&) = delete;
  ~Freed() {
    for (std::size_t i = 0; i < count_; ++i) unmap(blocks_[i].block, blocks_[i].size);
  }
  void add(const Kept& block) { blocks_[count_++] = block; }

 private:
  Kept blocks_[kMost + 1];  // all that are kept, and one that is given
  std::size_t count_ = 0;
};

class Keeper {
 public:
  void* take(std::size_t size, std::size_t array) {
    if (void* block = take_kept(size)) return block;
    const std::size_t place = places_.fetch_add(1, std::memory_order_relaxed) % kPlaces;
    void* block = map(size, array, place);
    if (!block && release() > 0) block = map(size, array, place);
    if (!block) return nullptr;
    const std::lock_guard lock(mutex_);
    use(size);
    return block;
  }

  void give(void* block, std::size_t size) {
    Freed freed;
    const std::lock_guard lock(mutex_);
    in_use_ -= size;
    roll();
    if (count_ == kMost) free(0, freed);
    kept_[count_++] = {block, size};
    kept_bytes_ += size;
    shrink(limit(), freed);
  }

  std::size_t release() {
    Freed freed;
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = kept_bytes_;
    shrink(0, freed);
    return bytes;
  }

 private:
  /// Nothing where none has the size; a new one then takes the room of the oldest.
  void* take_kept(std::size_t size) {
    Freed freed;
    const std::lock_guard lock(mutex_);
    roll();
    for (std::size_t i = count_; i-- > 0;) {
      if (kept_[i].size != size) continue;
      void* block = kept_[i].block;
      drop(i);
      use(size);
      return block;
    }
    shrink(std::max(limit(), in_use_ + size) - size, freed);
    return nullptr;
  }

  void use(std::size_t size) {
    in_use_ += size;
    peak_ = std::max(peak_, in_use_);
  }
  std::size_t limit() const { return std::max(peak_, last_peak_); }

  /// Starts a new window of time where it is due.
  void roll() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_sec < window_ + kWindow) return;
    last_peak_ = now.tv_sec < window_ + 2 * kWindow ? peak_ : in_use_;
    peak_ = in_use_;
    window_ = now.tv_sec;
  }
  /// Gives the oldest blocks back until all that is mapped is at most `bytes`, or nothing is kept.
  void shrink(std::size_t bytes, Freed& freed) {
    while (count_ && in_use_ + kept_bytes_ > bytes) free(0, freed);
  }
  void free(std::size_t i, Freed& freed) {
    freed.add(kept_[i]);
    drop(i);
  }
  void drop(std::size_t i) {
    kept_bytes_ -= kept_[i].size;
    std::copy(kept_ + i + 1, kept_ + count_, kept_ + i);
    --count_;
  }

  std::atomic<std::size_t> places_ = 0;
  std::mutex mutex_;
  Kept kept_[kMost];  // the oldest first
  std::size_t count_ = 0, kept_bytes_ = 0;
  std::size_t in_use_ = 0, peak_ = 0, last_peak_ = 0;
  time_t window_ = 0;
};

Keeper& keeper() {
  static Keeper* const instance = new Keeper;  // outlives the arrays of other static objects
  return *instance;
}

#if defined(__SANITIZE_ADDRESS__)
#define TLALOC_WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TLALOC_WITH_ASAN 1
#endif
#endif
bool is_kept([[maybe_unused]] std::size_t bytes) {
#ifdef TLALOC_WITH_ASAN
  return false;
#else
  return bytes >= kLargeMemory;
#endif
}

}  // namespace

void* take_large(std::size_t bytes) noexcept {
  const std::size_t size = size_of_block(bytes);
  return size ? keeper().take(size, bytes) : nullptr;
}
void give_large(void* block, std::size_t bytes) noexcept {
  keeper().give(block, size_of_block(bytes));
}
void* take_memory(std::size_t bytes) {
  if (!is_kept(bytes)) return ::operator new(bytes);
  void* block = take_large(bytes);
  if (!block) throw std::bad_alloc();
  return block;
}
void give_memory(void* block, std::size_t bytes) noexcept {
  is_kept(bytes) ? give_large(block, bytes) : ::operator delete(block);
}
std::size_t release_memory() noexcept { return keeper().release(); }

}  // namespace tlaloc
