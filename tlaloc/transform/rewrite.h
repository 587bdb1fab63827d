// Rebuilds a graph node by node, and the graphs in its regions.
#pragma once

#include <functional>
#include <optional>

#include "tlaloc/ir/builder.h"

namespace tlaloc::transform {

/// The same graph as its regions are rewritten.
using RewriteGraph = std::function<ir::GraphRef(const ir::GraphRef&)>;
/// What a node becomes in the builder, where it does not stay: its results, by the copier's
/// operands; it may set the copier's dims.
using RewriteNode =
    std::function<std::optional<ir::Vals>(const ir::Node&, ir::Copier&, const RewriteGraph& inner)>;

/// The same params, results, dims and labels. Rewrites of the builder and interning apply again.
/// `concerns`: whether there is something to rewrite in a region's graph; others stay.
ir::GraphRef rewrite_graph(const ir::Graph& g, const RewriteNode& rewrite,
                           const std::function<bool(const ir::Graph&)>& concerns);

}  // namespace tlaloc::transform
