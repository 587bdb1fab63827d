// Graphs on arrays of which only the beginning counts.
#pragma once

#include <span>

#include "tlaloc/ir/graph.h"

namespace tlaloc::transform {

/// g for arrays that are padded along `axes`, which are entry dims of g:
/// (x…, how much of each of `axes` counts: i64 scalars) -> y….
/// The beginning of each result is what g gives for arrays of those lengths, whatever the padding
/// holds; what follows it says nothing. What g requires of these sizes is the caller's to check.
/// Errors: UserError TL-VMAP-001, TL-VMAP-002 (an operation can't tell padding from elements),
/// TL-BOUNDED-001 (a result's size is computed).
ir::GraphRef padded(const ir::GraphRef& g, std::span<const ir::Symbol> axes);

}  // namespace tlaloc::transform
