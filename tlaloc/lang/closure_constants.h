// What a function captured, as constants of its graph. Internal.
#pragma once

#include "tlaloc/lang/closure.h"

namespace tlaloc::core {

/// The closure's graph, where captured arrays of at most `largest` elements are constants.
ir::GraphRef with_constants(const Closure& c, std::int64_t largest);

}  // namespace tlaloc::core
