// Sorting along an axis, and the k largest, by digits of the keys.
#pragma once

#include <span>
#include <vector>

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/ops/sort.h"

namespace tlaloc::cpu {

/// The standard order: no comparator. Dense values of the operands' types.
std::vector<Value> emit_sort(Emitter& e, std::span<const Value> operands,
                             const ops::SortAttrs& attrs);
/// `k`: in the program's dims. The values, and their positions of that type.
std::vector<Value> emit_top_k(Emitter& e, const Value& x, ir::Dim k, DType positions);

}  // namespace tlaloc::cpu
