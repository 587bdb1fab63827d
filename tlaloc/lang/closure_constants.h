// What a function captured, as constants of its graph. Internal.
#pragma once

#include "tlaloc/lang/closure.h"

namespace tlaloc::core {

/// The closure's graph, where captured arrays of at most `largest` elements are constants.
ir::GraphRef with_constants(const Closure& c, std::int64_t largest);
/// What f does with these values, in one graph: all that it captured is constants. UserError
/// TL-BACKEND-001 where it reads values of a trace around it.
ir::GraphRef whole_graph(const OpCall& call, const Function& f, const Leaves& args);

}  // namespace tlaloc::core
