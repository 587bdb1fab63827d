// Sorting by a comparator, in loops of other ops.
#pragma once

#include "tlaloc/ops/sort.h"

namespace tlaloc::ops {

/// The results of Sort with a comparator on these operands, with the same bits whatever the
/// comparator answers; for back ends that compile loops.
Vals sort_by_merging(const SortAttrs& attrs, const Vals& in);

}  // namespace tlaloc::ops
