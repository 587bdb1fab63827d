// Exponentials, circular functions and their relatives as LLVM IR that runs on vectors: own code,
// without a call but for huge arguments of sin, cos and tan.
#pragma once

#include <span>

#include "tlaloc/cpu/math_writer.h"
#include "tlaloc/ir/op_def.h"

namespace tlaloc::cpu {

/// Whether write_math knows the function on f32 or f64; see math_functions-inl.h.
bool has_math(const ir::OpDef& op, DType t);
/// `scalar` writes a call of the C library's function for one element.
IrValue write_math(IrWriter& w, const ir::OpDef& op, std::span<const IrValue> in, DType t,
                   int lanes, const ScalarCall& scalar);

}  // namespace tlaloc::cpu
