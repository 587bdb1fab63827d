// Dead code, through region signatures: loops lose unused ys and carries, branches unused results,
// all regions unused operands.
#pragma once

#include "tlaloc/transform/context.h"

namespace tlaloc::transform {

/// `keep`: which results stay (empty: all). Params stay.
GraphRef dce_graph(Context& ctx, const GraphRef& g, const Mask& keep = {});

}  // namespace tlaloc::transform
