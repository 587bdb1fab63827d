// Exponentials and their relatives as LLVM IR that runs on vectors: no branch, no call.
#pragma once

#include "tlaloc/cpu/ir_writer.h"
#include "tlaloc/ir/op_def.h"

namespace tlaloc::cpu {

/// Whether write_math knows the function on f32 or f64. Errors in units of the last place, measured
/// over all f32 and samples of f64 by generate_math_test.cc:
///   exp 1.5, log 1.5, tanh 2.5, logistic 2.5
/// NaN, infinities, signed zeros and subnormals are as in the C library.
bool has_math(const ir::OpDef& op, DType t);
IrValue write_math(IrWriter& w, const ir::OpDef& op, const IrValue& x, DType t, int lanes);

}  // namespace tlaloc::cpu
