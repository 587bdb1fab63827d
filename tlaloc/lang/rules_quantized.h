// Shape rule of products with quantized weights.
#pragma once

#include "tlaloc/lang/rules.h"

namespace tlaloc::rules {

/// x [..., k], w [n, k] -> [..., n]; transposed: x [..., n] -> [..., k]. Sources count x's axes,
/// then w's. Errors: TL-RANK-001, TL-SHAPE-003.
constexpr Plan quant_matmul(Axes x, Axes w, bool transposed) {
  Plan plan;
  if (x.empty() || length(w) != 2) return plan.refuse({"TL-RANK-001", "x: [..., k], w: [n, k]"});
  const AxisSpec& contracted = at(w, transposed ? 0 : 1);
  if (!fits(x.back(), contracted)) {
    return plan.refuse({"TL-SHAPE-003", "", &x.back(), &contracted});
  }
  for (int i = 0; i + 1 < length(x); ++i) plan.keep(i);
  plan.keep(length(x) + (transposed ? 1 : 0));
  return plan;
}

}  // namespace tlaloc::rules
