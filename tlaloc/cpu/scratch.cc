#include "tlaloc/cpu/scratch.h"

#include <hwy/base.h>

namespace tlaloc::cpu {
namespace {

// Where AddressSanitizer looks after memory, each has its own.
constexpr std::size_t kBytes = HWY_IS_ASAN ? 0 : std::size_t{256} << 10;

struct ThreadMemory {
  std::optional<AlignedMemory> memory;
  std::size_t used = 0;
};
thread_local ThreadMemory of_thread;

}  // namespace

Scratch::Scratch(std::size_t bytes) {
  ThreadMemory& t = of_thread;
  if (bytes > kBytes - t.used) {
    memory_ = own_.emplace(bytes).get();
    return;
  }
  if (!t.memory) t.memory.emplace(kBytes);
  bytes_ = (bytes + 63) / 64 * 64;
  memory_ = t.memory->get() + t.used;
  t.used += bytes_;
}
Scratch::~Scratch() { of_thread.used -= bytes_; }

}  // namespace tlaloc::cpu
