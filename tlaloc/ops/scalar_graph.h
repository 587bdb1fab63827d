// Graphs of elementwise ops and constants on scalars: what reducers and comparators are. Such a
// graph means the same on arrays of any one shape.
#pragma once

#include <vector>

#include "tlaloc/ir/graph.h"
#include "tlaloc/ops/op.h"

namespace tlaloc::ops {

/// Refuses (TL-REGION-001) anything else, and other scalar params or results than these.
void check_scalar_graph(const InferContext& c, const ir::GraphAttr& g,
                        const std::vector<DType>& params, const std::vector<DType>& results);

/// On arrays of equal extents.
std::vector<HostArray> eval_scalar_graph(const ir::Graph& g, std::vector<HostArray> args);
/// Emits it on values of one shape.
Vals emit_scalar_graph(const ir::Graph& g, const Vals& args);
/// The tangents of the results alone; absent ones are zero.
Vals emit_scalar_graph_tangents(const ir::Graph& g, const Vals& args, const Vals& tangents);

}  // namespace tlaloc::ops
