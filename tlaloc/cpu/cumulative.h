// Running reductions along an axis.
#pragma once

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/ops/cumulative.h"

namespace tlaloc::cpu {

/// cumsum, cumprod, cummax, cummin or cumlogsumexp of x: each line combined in order, by one
/// thread, with the bits of the op table's row. What is computed for it is updated in place.
Value emit_cumulative(Emitter& e, const ir::OpDef& op, const Value& x,
                      const ops::CumulativeAttrs& attrs);

}  // namespace tlaloc::cpu
