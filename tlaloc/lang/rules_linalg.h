// Shape rules of linear algebra over the last two axes.
#pragma once

#include "tlaloc/lang/rules.h"

namespace tlaloc::rules {

/// Two axes of one size, whatever their names; a named axis without a size equals itself only.
constexpr bool same_size(const AxisSpec& a, const AxisSpec& b) {
  return fits(a, b) || (a.size >= 0 && a.size == b.size);
}

/// [..., n, n]. Errors: TL-RANK-001, TL-SHAPE-012.
constexpr Plan square(Axes a) {
  Plan plan;
  const int n = length(a);
  if (n < 2) return plan.refuse({"TL-RANK-001", "[..., n, n] is due"});
  if (!same_size(at(a, n - 2), at(a, n - 1))) {
    return plan.refuse({"TL-SHAPE-012", "", &at(a, n - 2), &at(a, n - 1)});
  }
  for (int i = 0; i < n; ++i) plan.keep(i);
  return plan;
}

/// a [..., n, n], b [..., n, m] -> b's axes. Errors: TL-RANK-001, TL-SHAPE-012, TL-SHAPE-006.
constexpr Plan solve(Axes a, Axes b) {
  Plan plan = square(a);
  if (!plan.ok()) return plan;
  if (length(a) != length(b)) return plan.refuse({"TL-RANK-001", "ranks differ"});
  for (int i = 0; i < length(a) - 1; ++i) {
    if (!fits(at(a, i), at(b, i))) return plan.refuse({"TL-SHAPE-006", "", &at(a, i), &at(b, i)});
  }
  return plan;
}

/// [n] -> [n, n]. Errors: TL-RANK-001.
constexpr Plan diag(Axes a) {
  Plan plan;
  if (length(a) != 1) return plan.refuse({"TL-RANK-001", "a vector is due"});
  plan.keep(0);
  plan.keep(0);
  return plan;
}

}  // namespace tlaloc::rules
