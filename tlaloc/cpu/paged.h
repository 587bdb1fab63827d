// Attention to keys and values in pages: the composite paged_attention, in the pools where they
// lie.
#pragma once

#include <vector>

#include "tlaloc/cpu/emitter.h"

namespace tlaloc::cpu {

/// Whether a call is one of ops::paged_attention with the types that it has there, so without
/// vmap's lanes.
bool claims_paged_attention(const ir::Node& call);

/// The result of such a call, of type `type`. A token's bits depend on its query, its position, and
/// the keys and values that it sees: not on the tokens beside it, nor on the number of threads.
Value emit_paged_attention(Emitter& e, const ir::Node& call, const std::vector<Value>& operands,
                           ir::Type type);

}  // namespace tlaloc::cpu
