// The untyped core, continued: sorting several values by one order.
#pragma once

#include "tlaloc/lang/core.h"

namespace tlaloc::core {

/// Fills `out` with xs, sorted along an axis by the first `keys` of them; stable, ascending, NaN
/// counts as the largest. `axes[k]` labels out[k]. Errors: TL-SHAPE-001 (shapes differ).
void sort_together(std::span<const Ref> xs, int axis, int keys, std::span<const AxesSpec> axes,
                   std::span<Ref> out, Where where);

}  // namespace tlaloc::core
