#include "tlaloc/runtime/buffer.h"

#include <mutex>
#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc::runtime {

struct Buffer::State {
  DType dtype;
  Extents extents;
  Owner owner = Owner::owned;
  std::size_t copied_bytes = 0;
  Event ready;
  // Below: guarded, because a donation may meet a read in another thread.
  std::mutex mutex;
  bool consumed = false;
  HostArray host;
  std::shared_ptr<const DeviceMemory> memory;

  void check_live() const {
    if (!consumed) return;
    throw UserError({"TL-BUFFER-001",
                     "buffer",
                     std::string(name(dtype)) + to_string(extents) +
                         " was donated to a run, which may have overwritten it",
                     "use the run's results, or don't donate the buffer",
                     {}});
  }
};

std::string type_text(const Buffer& buffer) {
  return std::string(name(buffer.dtype())) + to_string(buffer.extents());
}

Buffer::Buffer(HostArray array) : state_(std::make_shared<State>()) {
  state_->dtype = array.dtype();
  state_->extents = array.extents();
  state_->host = std::move(array);
}

Buffer Buffer::external(DType dtype, Extents extents, const void* data,
                        std::shared_ptr<const void> keep_alive) {
  // Sizes of elements are powers of two and at least as strict as their alignments.
  const auto size = static_cast<std::uintptr_t>(byte_size(dtype));
  HostArray array = HostArray::external(dtype, std::move(extents), data, std::move(keep_alive));
  if (reinterpret_cast<std::uintptr_t>(data) % size == 0) {
    Buffer b(std::move(array));
    b.state_->owner = Owner::external;
    return b;
  }
  array.mutable_data();  // copies, because foreign memory is never written
  const std::size_t bytes = array.bytes();
  Buffer b(std::move(array));
  b.state_->copied_bytes = bytes;
  return b;
}

Buffer Buffer::on_device(std::shared_ptr<const DeviceMemory> memory, DType dtype, Extents extents,
                         Event ready) {
  auto state = std::make_shared<State>();
  state->dtype = dtype;
  state->extents = std::move(extents);
  state->ready = std::move(ready);
  state->memory = std::move(memory);
  return Buffer(std::move(state));
}

Buffer::State& Buffer::state() const {
  if (state_) return *state_;
  throw UserError({"TL-BUFFER-001", "buffer", "an empty buffer was used", "", {}});
}
DType Buffer::dtype() const { return state().dtype; }
const Extents& Buffer::extents() const { return state().extents; }
Buffer::Owner Buffer::owner() const { return state().owner; }
const Event& Buffer::ready() const { return state().ready; }
std::size_t Buffer::copied_bytes() const { return state().copied_bytes; }
const Device& Buffer::device() const {
  static const Device host;
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.memory ? s.memory->device() : host;
}
bool Buffer::consumed() const {
  State& s = state();
  std::lock_guard lock(s.mutex);
  return s.consumed;
}

HostArray Buffer::to_host() const {
  State& s = state();
  std::shared_ptr<const DeviceMemory> memory;
  {
    std::lock_guard lock(s.mutex);
    s.check_live();
    if (!s.memory) return s.host;
    memory = s.memory;
  }
  s.ready.wait();
  return memory->read(s.dtype, s.extents);
}
std::shared_ptr<const DeviceMemory> Buffer::memory() const {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.check_live();
  return s.memory;
}
HostArray Buffer::donate_host() const {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.check_live();
  s.consumed = true;
  return std::move(s.host);
}

}  // namespace tlaloc::runtime
