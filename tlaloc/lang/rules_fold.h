// Shape rule of windows along every axis.
#pragma once

#include "tlaloc/lang/core_fold.h"
#include "tlaloc/lang/rules.h"

namespace tlaloc::rules {

/// Along one axis: max(0, floor((low + n + high - k) / stride) + 1) windows of k elements, where
/// dilation has been applied to n and k; ceil(n / stride) with `same`.
constexpr Source fold_window(const AxisSpec& axis, int position, const tlaloc::Window& w) {
  const bool plain = w.base_dilation == 1 && w.stride == 1;
  const bool whole = w.size == 1 && w.low == 0 && w.high == 0;
  if (plain && (w.same || whole)) return {.axis = position};
  if (axis.size < 0) return {};
  if (w.same) return {.size = (axis.size + w.stride - 1) / w.stride};
  const std::int64_t n = axis.size == 0 ? 0 : (axis.size - 1) * w.base_dilation + 1;
  const std::int64_t k = (std::int64_t{w.size} - 1) * w.dilation + 1;
  const std::int64_t room = w.low + n + w.high - k;
  return {.size = room < 0 ? 0 : room / w.stride + 1};
}

/// One window per axis. Errors: TL-RANK-001, TL-SHAPE-007.
constexpr Plan fold_windows(Axes x, std::span<const tlaloc::Window> windows) {
  Plan plan;
  if (windows.size() != x.size()) return plan.refuse({"TL-RANK-001", "one window per axis"});
  for (int i = 0; i < length(x); ++i) {
    const tlaloc::Window& w = windows[static_cast<std::size_t>(i)];
    if (w.size < 1 || w.stride < 1 || w.dilation < 1 || w.base_dilation < 1) {
      return plan.refuse({"TL-SHAPE-007", "window, stride, dilation >= 1"});
    }
    if (w.same && (w.low != 0 || w.high != 0 || w.base_dilation != 1)) {
      return plan.refuse({"TL-SHAPE-007", "`same` says the padding"});
    }
    plan.push(fold_window(at(x, i), i, w));
  }
  return plan;
}

}  // namespace tlaloc::rules
