// The untyped core, continued: sums and exchanges between devices.
#pragma once

#include "tlaloc/lang/core.h"

namespace tlaloc {

enum class Collective : std::uint8_t { sum, max, min };

namespace core {

/// The devices along one axis of a mesh.
struct MeshSpec {
  const char* name;
  std::int64_t devices;
};
// UserError TL-MESH-001 in the run, where there are other devices than `over` says.
Ref all_reduce(const Ref& x, Collective reduction, const MeshSpec& over, AxesSpec axes,
               Where where);
Ref all_gather(const Ref& x, int axis, const MeshSpec& over, AxesSpec axes, Where where);
Ref reduce_scatter(const Ref& x, int axis, const MeshSpec& over, AxesSpec axes, Where where);

}  // namespace core
}  // namespace tlaloc
