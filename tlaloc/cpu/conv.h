// convolution as products of matrices.
#pragma once

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::cpu {

/// Adds to a target that holds zeros, for any numbers but those of 16 bits, which would round at
/// each position of the kernel. The operands may be any views of storages.
/// Along axes where windows reach into padding, each position of the kernel adds one contraction to
/// the results whose window has an element there, so padding and dilation are never built, and
/// never multiplied. `attrs` has
/// its dims in the program's.
void emit_convolution(Emitter& e, const Value& lhs, const Value& rhs, const ops::ConvAttrs& attrs,
                      const Target& target, ir::Type type);
/// The same as one loop, for which code can be written, into a target that may hold anything:
/// padding and dilation are built, and masked.
void emit_convolution_as_loop(Emitter& e, const Value& lhs, const Value& rhs,
                              const ops::ConvAttrs& attrs, const Target& target, ir::Type type);

}  // namespace tlaloc::cpu
