// The untyped core, continued: values on a mesh of devices.
#pragma once

#include <span>

#include "tlaloc/lang/core_collectives.h"
#include "tlaloc/lang/trace.h"

namespace tlaloc::core {

/// An axis, or the part of `size` devices behind the first `before` ones; size 0: all of it.
struct AxisPartSpec {
  const char* axis;
  std::int64_t before, size;
};
struct DimShardingSpec {
  std::span<const AxisPartSpec> axes;
  bool open;
  std::int64_t priority;  ///< -1: none
};
struct ShardingSpec {
  std::span<const MeshSpec> mesh;
  std::span<const DimShardingSpec> dims;
  std::span<const AxisPartSpec> replicated;
};
/// UserError TL-MESH-002.
Ref sharding_constraint(const Ref& x, const ShardingSpec& sharding, Where where);

struct ManualSpec {
  std::span<const MeshSpec> mesh;
  /// By argument and result: by dimension, the axes that it is cut along.
  std::span<const ShardingSpec> in, out;
  std::span<const AxesSpec> result_axes;
};
/// `parts`: the arguments' structure with the types of their parts. UserError TL-MESH-002.
Leaves manual(const ManualSpec& spec, const Function& body, const Leaves& args, const Leaves& parts,
              Where where);

}  // namespace tlaloc::core
