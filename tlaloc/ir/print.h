// Text of graphs; parse.h has the form. Graph::to_string prints a whole graph.
#pragma once

#include <string>

#include "tlaloc/ir/graph.h"

namespace tlaloc::ir {

/// The line of one node, without the insides of its regions; for errors.
std::string node_text(const Graph& g, std::uint32_t node);

}  // namespace tlaloc::ir
