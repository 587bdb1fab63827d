// Convolutions of few features per group, depthwise ones above all, as sums of products.
#pragma once

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::cpu {

/// Computes the convolution into the target, which may hold anything, and is true; or it is one
/// that products of matrices are better for, or lies in no order that vectors can follow. For f32
/// and f64. `attrs` has its dims in the program's.
bool emit_direct_convolution(Emitter& e, const Value& lhs, const Value& rhs,
                             const ops::ConvAttrs& attrs, const Target& target, ir::Type type);

}  // namespace tlaloc::cpu
