// Devices as lanes of a batched graph; internal to transform.
#pragma once

#include <optional>
#include <vector>

#include "tlaloc/ir/region_ops.h"

namespace tlaloc::transform {

/// The devices along the manual axes of a mesh, as lanes in front of every value: the last axis
/// runs fastest. Axes of one device are none here.
class DeviceLanes {
 public:
  explicit DeviceLanes(const ir::ManualAttrs& attrs);
  std::int64_t count() const { return count_; }
  /// [lanes, part of each device…] of a whole value.
  ir::Val cut(ir::Val whole, const ir::ShardSpec& spec) const;
  /// The whole value; along axes that the spec does not mention, the first device's.
  ir::Val join(ir::Val lanes, const ir::ShardSpec& spec) const;
  /// Whether these devices meet there: a collective over one of the axes.
  bool meet(const ir::Node& n) const;
  /// What they get there, with lanes as the operand has.
  ir::Val collective(const ir::Node& n, ir::Val lanes) const;

 private:
  std::size_t rank() const { return axes_.size(); }
  std::optional<std::size_t> find(const std::string& axis) const;
  /// [lanes, …] as [size of each axis…, …] and back.
  ir::Val spread(ir::Val lanes) const;
  ir::Val packed(ir::Val spread) const;

  std::vector<ir::NamedAxis> axes_;
  std::int64_t count_ = 1;
};

}  // namespace tlaloc::transform
