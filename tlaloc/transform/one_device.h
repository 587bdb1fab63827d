// Programs over meshes, for a back end that has one device: it does the work of all of them.
#pragma once

#include "tlaloc/ir/graph.h"

namespace tlaloc::transform {

/// The graph without shardings: a manual computation becomes its body mapped over the devices, and
/// collectives inside of it sums and exchanges between lanes. Results that are the same on several
/// devices are the first one's. The same params, results, dims and labels; null where there is
/// nothing to change. UserError TL-MESH-001, TL-VMAP-002.
ir::GraphRef on_one_device(const ir::Graph& g);

}  // namespace tlaloc::transform
