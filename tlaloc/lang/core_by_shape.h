// Operations on values whose shapes no type tells (Array): the shape rules of rules.h run on the
// sizes at hand. An axis of unknown size in a trace goes with anything and becomes a constraint.
#pragma once

#include "tlaloc/lang/core.h"

namespace tlaloc::core {

/// Broadcasts as two Tensors do; named axes go by name. Errors: TL-SHAPE-001, TL-DTYPE-001.
Ref binary_by_shape(BinaryOp op, const Ref& a, const Ref& b, Where where);

}  // namespace tlaloc::core
