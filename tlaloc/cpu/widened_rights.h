// Conversions that products make unnecessary.
#pragma once

#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::cpu {

/// By node: f16 or bf16 becomes f32, and nothing reads it but products, as their right side or a
/// transpose of it, large enough to be packed. Where the narrow elements are the same in every run,
/// the product packs those: half the bytes, which is what takes time where rows are few. `bound`,
/// a flag for each param: with products that need nothing but such params, which are computed once
/// with what they read, it is not these alone.
std::vector<bool> widened_rights(const ir::Graph& g, const std::vector<bool>& bound);

}  // namespace tlaloc::cpu
