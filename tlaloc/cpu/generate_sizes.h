// Arithmetic on sizes as LLVM IR.
#pragma once

#include "tlaloc/cpu/ir_writer.h"
#include "tlaloc/cpu/sizes.h"

namespace tlaloc::cpu {

/// What evaluate() computes. `checked`: poison where 64 bits don't hold a sum or a product, or an
/// operand is poison; a quotient by zero always is.
IrValue write_size_op(IrWriter& w, SizeOp::Kind kind, const IrValue& a, const IrValue& b,
                      bool checked);

}  // namespace tlaloc::cpu
