// Replaces calls by what they call: the last step before a back end that does not claim them.
#pragma once

#include <functional>

#include "tlaloc/ir/graph.h"

namespace tlaloc::transform {

/// The graph without calls, in its regions too, except those that `keep` wants. Every call runs its
/// callee, whatever else it carries; rewrites and interning apply across the old borders. The same
/// params, results, dims and labels.
ir::GraphRef inline_calls(const ir::GraphRef& g,
                          const std::function<bool(const ir::Node&)>& keep = {});

}  // namespace tlaloc::transform
