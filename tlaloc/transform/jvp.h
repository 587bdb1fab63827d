// Forward mode: one pass, one rule per op.
#pragma once

#include "tlaloc/transform/context.h"

namespace tlaloc::transform {

/// params, tangents of the active ones -> results, tangents of those that have one (`out`). A zero
/// tangent is absent unless forced.
const Masked& jvp_graph(Context& ctx, const GraphRef& g, const Mask& active, const Mask& force);

/// Results and tangents of one node with regions. `dims` is extended by what it binds.
struct PrimalTangent {
  Vals primal, tangent;
};
PrimalTangent jvp_region(Context& ctx, const Node& n, const Vals& x, const Vals& t, DimMap& dims);

}  // namespace tlaloc::transform
