// The untyped core, continued: grids.
#pragma once

#include "tlaloc/lang/core.h"

namespace tlaloc::core {

/// Vector i along axis i of the grid that all vectors span.
Ref meshgrid(std::span<const Ref> vectors, int i, AxesSpec axes, Where where);

}  // namespace tlaloc::core
