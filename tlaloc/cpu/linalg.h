// Triangular factors and solves, by blocks that products of matrices bring together.
#pragma once

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::cpu {

/// Of f32 and f64. Both give dense values of the operands' type, those of `b` for a solve.
Value emit_cholesky(Emitter& e, const Value& a);
Value emit_triangular_solve(Emitter& e, const Value& a, const Value& b,
                            const ops::TriangularAttrs& attrs);

}  // namespace tlaloc::cpu
