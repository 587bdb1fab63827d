// dot_general as products of matrices.
#pragma once

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::cpu {

/// The operands may be any views of storages; one is copied only where its contracted axes can't be
/// walked as one. Axes of the result that can't either become loops around the product.
void emit_dot(Emitter& e, const Value& lhs, const Value& rhs, const ops::DotDims& dims,
              const Target& target);
/// The same as one loop, for which code can be written: good for small products.
void emit_dot_as_loop(Emitter& e, const Value& lhs, const Value& rhs, const ops::DotDims& dims,
                      const Target& target);
/// The same with the bits of emit_dot once it is compiled, for what is_small_dot.
void emit_small_dot(Emitter& e, const Value& lhs, const Value& rhs, const ops::DotDims& dims,
                    const Target& target);
/// Whether a product with this result is so small that the kernel's call takes longer than it.
bool is_small_dot(ir::Type result, ir::Type lhs, const ops::DotDims& dims);

}  // namespace tlaloc::cpu
