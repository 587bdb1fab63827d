// What a Ref points to. Internal: user code sees core.h only.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/val.h"
#include "tlaloc/lang/core.h"

namespace tlaloc::core {

/// The name of one axis of a value; for errors and printing only.
struct AxisLabel {
  const char* name = nullptr;  ///< null: anonymous. Static storage.
  const void* tag = nullptr;
};

class Node {
 public:
  std::atomic<std::uint32_t> refs{1};
  HostArray array;  ///< a concrete value
  ir::Val val;      ///< a value of a trace
  ir::Type type;
  std::vector<AxisLabel> labels;  ///< empty, or one per axis
  bool baked = false;             ///< becomes a constant of the graph that reads it, at any size

  bool traced() const { return static_cast<bool>(val); }
  AxisLabel label(int axis) const {
    return labels.empty() ? AxisLabel{} : labels[static_cast<std::size_t>(axis)];
  }
};

/// The node behind a handle. UserError TL-VALUE-001 for a handle without a value.
const Node& node(const Ref& x);

std::vector<AxisLabel> labels_of(AxesSpec axes);
/// A concrete value. Labels may be empty.
Ref make_concrete(HostArray array, std::vector<AxisLabel> labels = {},
                  const ir::Encoding* encoding = nullptr);
Ref make_traced(ir::Val val, std::vector<AxisLabel> labels = {});
/// The same value under other axis names.
Ref relabeled(const Ref& x, std::vector<AxisLabel> labels);

/// The type of an array; with an encoding, of the floats that its bytes stand for.
ir::Type type_of(const HostArray& array, const ir::Encoding* encoding = nullptr);
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
