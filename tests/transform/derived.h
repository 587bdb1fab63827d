// Graphs derived from a graph by the transforms under test. Each one is verified and goes through
// its text form and back.
#pragma once

#include <optional>
#include <vector>

#include "tests/transform/program.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::testing {

using transform::Policy;

/// g itself, after the verifier accepted it and its text was read back as an equal graph.
GraphRef checked(GraphRef g);

/// x…, dx… of the f64 params -> y…, dy….
GraphRef jvp_of(const GraphRef& g);
/// x…, u… -> the derivative of the (scalar, first) result along u.
GraphRef directional(const GraphRef& g);
/// x… -> gradients of the scalar result by the f64 params.
GraphRef grad_of(const GraphRef& g, const Policy& policy);
/// x…, u… -> <grad g(x), u>.
GraphRef grad_dot(const GraphRef& g, const Policy& policy);
/// Maps over the leading axis of the params (those of the mask, if given).
GraphRef vmap_of(const GraphRef& g, std::optional<std::vector<bool>> mapped = std::nullopt);
/// The sum of the first result's elements, or of their squares.
GraphRef sum_of(const GraphRef& g);
GraphRef sum_of_squares(const GraphRef& g);

/// Nodes, those of regions included (a region that stands twice counts twice).
std::size_t node_count(const ir::Graph& g);

}  // namespace tlaloc::testing
