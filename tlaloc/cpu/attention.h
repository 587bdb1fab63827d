// Attention without the matrix of its scores: the composite of that name, forward and backward.
#pragma once

#include <vector>

#include "tlaloc/cpu/emitter.h"

namespace tlaloc::cpu {

/// Whether a call is one of ops::attention, attention.fwd or attention.bwd that the kernels can do:
/// f32, or f16 and bf16, which they convert, with axes as the composite has them, or more in front.
/// What is left of one after dead code is one too, as long as it has all its operands.
bool claims_attention(const ir::Node& call);

/// The results of such a call. `types`: its results'.
std::vector<Value> emit_attention(Emitter& e, const ir::Node& call, std::vector<Value> operands,
                                  const std::vector<ir::Type>& types);

}  // namespace tlaloc::cpu
