// The untyped core, continued: bits of elements, and identities that transforms respect.
#pragma once

#include "tlaloc/lang/core.h"

namespace tlaloc::core {

/// The same bits; a narrower type appends an axis of parts, a wider one takes the last axis away.
Ref bitcast_convert(const Ref& x, DType dtype, AxesSpec axes, Where where);
/// Rounded to a format of that many bits, and back.
Ref reduce_precision(const Ref& x, int exponent_bits, int mantissa_bits, AxesSpec axes,
                     Where where);
/// x itself, never merged with what it is computed from.
Ref optimization_barrier(const Ref& x, AxesSpec axes, Where where);

}  // namespace tlaloc::core
