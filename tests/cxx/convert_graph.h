// Programs in another floating type.
#pragma once

#include "tlaloc/base/host_array.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::testing {

/// g with every f64 replaced by `dtype`, in regions and constants too.
ir::GraphRef with_floats(const ir::GraphRef& g, DType dtype);
/// The array in that type if it is floating, else as it is.
HostArray with_floats(const HostArray& a, DType dtype);

}  // namespace tlaloc::testing
