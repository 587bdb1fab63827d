// The rules that every graph keeps.
#pragma once

#include "tlaloc/ir/graph.h"

namespace tlaloc::ir {

/// Throws InternalError with the rule and the node that breaks it, unless g and the graphs of its
/// regions are well formed:
/// - operands are params or results of earlier nodes; every size is an entry dim or bound by an
///   earlier node, each once; no size is negative for sure;
/// - attributes are of the op's struct; the types of other nodes than region nodes are what the op
///   infers, where "unknown" passes: the constraints say so;
/// - regions take what the node gives them and return what it returns, see verify_regions.cc.
/// Meant to run after every pass in tests, and on graphs read from text.
void verify(const Graph& g);

}  // namespace tlaloc::ir
