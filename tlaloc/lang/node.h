// What a Ref points to. Internal: user code sees core.h only.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/val.h"
#include "tlaloc/lang/core.h"
#include "tlaloc/runtime/buffer.h"

namespace tlaloc::runtime {
class Backend;
}

namespace tlaloc::core {

/// The name of one axis of a value; for errors and printing only.
struct AxisLabel {
  const char* name = nullptr;  ///< null: anonymous. Static storage.
  const void* tag = nullptr;
};

/// A value that a device has, or is going to have: what computes it goes on meanwhile.
class DeviceValue {
 public:
  DeviceValue(runtime::Buffer buffer, const runtime::Backend& backend)
      : buffer_(std::move(buffer)), backend_(&backend) {}
  const runtime::Buffer& buffer() const { return buffer_; }
  const runtime::Backend& backend() const { return *backend_; }
  /// Waits and copies, the first time. Errors: as Buffer::to_host, and what the computation failed
  /// with.
  const HostArray& host() const;

 private:
  runtime::Buffer buffer_;
  const runtime::Backend* backend_;
  mutable std::once_flag once_;
  mutable HostArray host_;
};

class Node {
 public:
  std::atomic<std::uint32_t> refs{1};
  ir::Val val;  ///< a value of a trace
  ir::Type type;
  std::vector<AxisLabel> labels;  ///< empty, or one per axis
  bool baked = false;             ///< becomes a constant of the graph that reads it, at any size

  bool traced() const { return static_cast<bool>(val); }
  /// A concrete value. Errors: as DeviceValue::host.
  const HostArray& array() const { return device_ ? device_->host() : host_; }
  void set(HostArray array) { host_ = std::move(array); }
  void set(std::shared_ptr<const DeviceValue> value) { device_ = std::move(value); }
  /// The same value as another node's.
  void share(const Node& other) {
    host_ = other.host_;
    device_ = other.device_;
  }
  /// Null for a value on the host.
  const std::shared_ptr<const DeviceValue>& device() const { return device_; }
  /// For a run that takes the memory; null for a value on a device.
  HostArray* owned() { return device_ ? nullptr : &host_; }
  AxisLabel label(int axis) const {
    return labels.empty() ? AxisLabel{} : labels[static_cast<std::size_t>(axis)];
  }

 private:
  HostArray host_;
  std::shared_ptr<const DeviceValue> device_;
};

/// The node behind a handle. UserError TL-VALUE-001 for a handle without a value.
const Node& node(const Ref& x);

std::vector<AxisLabel> labels_of(AxesSpec axes);
/// A concrete value. Labels may be empty.
Ref make_concrete(HostArray array, std::vector<AxisLabel> labels = {},
                  const ir::Encoding* encoding = nullptr);
/// A value of a back end that keeps it on its device; one that it gave on the host lies there.
Ref make_on_device(runtime::Buffer buffer, const runtime::Backend& backend,
                   std::vector<AxisLabel> labels = {}, const ir::Encoding* encoding = nullptr);
Ref make_traced(ir::Val val, std::vector<AxisLabel> labels = {});
/// The same value under other axis names.
Ref relabeled(const Ref& x, std::vector<AxisLabel> labels);

/// The type of an array; with an encoding, of the floats that its bytes stand for.
ir::Type type_of(DType dtype, const Extents& extents, const ir::Encoding* encoding = nullptr);
/// Whether values of a type carry tangents.
inline bool carries_tangents(ir::Type t) { return is_differentiable(t.dtype()) && !t.encoding(); }

/// "f32[batch=32, 784]": element type, axis names, sizes.
std::string describe(const Ref& x);
std::string describe(DType dtype, std::span<const AxisLabel> labels,
                     std::span<const ir::Dim> shape);
std::string describe(DType dtype, AxesSpec axes);
/// "batch=32", "784", "axis 1" is not part of it.
std::string describe_axis(AxisLabel label, ir::Dim size);

}  // namespace tlaloc::core
