// Reductions over windows and what max pooling's derivatives need, for f32 and f64.
#pragma once

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/ops/reduce_window.h"

namespace tlaloc::cpu {

/// Writes a dense target; `window` has its dims in the program's.
void emit_reduce_window(Emitter& e, const Value& x, ops::Monoid monoid, const ops::Window& window,
                        const Value& out);
/// `values` and `x` have one element type. `scatter`: else gather.
void emit_select_window(Emitter& e, const Value& values, const Value& x,
                        const ops::SelectWindowAttrs& attrs, bool scatter, const Value& out);

}  // namespace tlaloc::cpu
