// Shape rule of bitcast_convert.
#pragma once

#include "tlaloc/lang/rules.h"

namespace tlaloc::rules {

/// Elements of `from` bytes as elements of `to` bytes. Errors: TL-RANK-001, TL-SHAPE-004.
constexpr Plan bitcast(Axes a, int from, int to) {
  Plan plan;
  if (from < to && a.empty()) return plan.refuse({"TL-RANK-001", "a last axis of parts is due"});
  const int kept = from < to ? length(a) - 1 : length(a);
  for (int i = 0; i < kept; ++i) plan.keep(i);
  if (from > to) plan.add(from / to);
  if (from < to && !a.back().any && a.back().size != to / from) {
    plan.refuse({"TL-SHAPE-004", "not the parts of one element", &a.back()});
  }
  return plan;
}

}  // namespace tlaloc::rules
