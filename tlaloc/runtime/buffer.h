// Values at rest: where they lie, who owns them, when they are ready.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tlaloc/base/host_array.h"

namespace tlaloc::runtime {

/// Where memory lies. Host memory is {"host", 0}, whatever back end computes there.
struct Device {
  std::string platform = "host";
  int ordinal = 0;
  bool is_host() const { return platform == "host"; }
  bool operator==(const Device&) const = default;
  std::string text() const { return platform + ":" + std::to_string(ordinal); }
};

/// Completion of work that a back end does on its own time. A default event has happened.
class Event {
 public:
  class State {
   public:
    virtual ~State() = default;
    virtual bool ready() const = 0;
    /// Throws what the work failed with.
    virtual void wait() const = 0;
  };
  Event() = default;
  explicit Event(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  bool ready() const { return !state_ || state_->ready(); }
  void wait() const {
    if (state_) state_->wait();
  }

 private:
  std::shared_ptr<const State> state_;
};

/// Memory that only its back end can address.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual const Device& device() const = 0;
  /// Copies to the host.
  virtual HostArray read(DType dtype, const Extents& extents) const = 0;
};

/// A dense array on some device; a shared handle. The elements never change while anyone can read
/// them: a run writes into a buffer only when it was donated, and then all handles are consumed.
class Buffer {
 public:
  enum class Owner : std::uint8_t {
    owned,     ///< memory of ours; may be reused when donated
    external,  ///< somebody else's, such as an mmap, kept alive; never written
  };
  Buffer() = default;
  /// On the host; shares the array. An array over foreign memory must come through `external`.
  explicit Buffer(HostArray array);
  /// Foreign memory, kept alive by `keep_alive`. Kernels assume the alignment of the element type:
  /// memory that lacks it is copied, and `copied_bytes` says so.
  static Buffer external(DType dtype, Extents extents, const void* data,
                         std::shared_ptr<const void> keep_alive);
  static Buffer on_device(std::shared_ptr<const DeviceMemory> memory, DType dtype, Extents extents,
                          Event ready);

  explicit operator bool() const { return state_ != nullptr; }
  DType dtype() const;
  const Extents& extents() const;
  const Device& device() const;
  Owner owner() const;
  const Event& ready() const;
  /// Bytes that had to be copied to make this buffer where sharing was asked for.
  std::size_t copied_bytes() const;
  bool consumed() const;

  /// The elements; shared without a copy when they lie on the host. Waits until they are ready.
  /// UserError TL-BUFFER-001 when the buffer was donated.
  HostArray to_host() const;
  /// For back ends: the memory itself; TL-BUFFER-001 as above. Null on the host.
  std::shared_ptr<const DeviceMemory> memory() const;
  /// For back ends: takes the array out, so that its holder may be its only owner. All handles are
  /// consumed. Off the host there is no array: `memory` gives what to keep, before this.
  HostArray donate_host() const;

 private:
  struct State;
  explicit Buffer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  State& state() const;
  std::shared_ptr<State> state_;
};

/// "f32[2, 3]".
std::string type_text(const Buffer& buffer);

}  // namespace tlaloc::runtime
