// Shape rules of indexing: take, take_along_axis, one_hot, dynamic slices.
#pragma once

#include "tlaloc/lang/rules_layout.h"

namespace tlaloc::rules {

/// One axis is replaced by the axes of the indices: [.., d, ..] by [e...] -> [.., e..., ..].
/// Sources count the operand's axes, then the indices'. Error: TL-AXIS-001.
constexpr Over take(Axes a, const AxisSpec& selector, Axes indices) {
  Over plan;
  const Chosen chosen = choose(a, selector);
  if (chosen.fault) {
    plan.refuse(chosen.fault);
    return plan;
  }
  plan.axes_over.add(chosen.axis);
  for (int i = 0; i < length(a); ++i) {
    if (i != chosen.axis) {
      plan.keep(i);
    } else {
      for (int k = 0; k < length(indices); ++k) plan.keep(length(a) + k);
    }
  }
  return plan;
}

/// Indices of the operand's rank pick along one axis; the other axes must fit. The result has the
/// indices' shape. Errors: TL-AXIS-001, TL-RANK-001, TL-SHAPE-006.
constexpr Over take_along_axis(Axes a, const AxisSpec& selector, Axes indices) {
  Over plan;
  const Chosen chosen = choose(a, selector);
  if (chosen.fault) {
    plan.refuse(chosen.fault);
    return plan;
  }
  plan.axes_over.add(chosen.axis);
  if (length(a) != length(indices)) {
    plan.refuse({"TL-RANK-001", "ranks differ"});
    return plan;
  }
  for (int i = 0; i < length(a); ++i) {
    if (i != chosen.axis && !fits(at(a, i), at(indices, i))) {
      plan.refuse({"TL-SHAPE-006", "", &at(a, i), &at(indices, i)});
      return plan;
    }
    const bool from_a = i != chosen.axis && says_more(at(a, i), at(indices, i));
    plan.keep(from_a ? i : length(a) + i);
  }
  return plan;
}

/// [d...] -> [d..., classes]. Sources count the ids' axes, then the one of `classes`.
/// Error: TL-SHAPE-009 (classes without a size).
constexpr Plan one_hot(Axes ids, const AxisSpec& classes) {
  Plan plan;
  if (classes.size < 0) plan.refuse({"TL-SHAPE-009", "no size in the type", &classes});
  for (int i = 0; i < length(ids); ++i) plan.keep(i);
  plan.keep(length(ids));
  return plan;
}

/// The first `size` of the last axis in some order. Errors: TL-AXIS-001 (rank 0), TL-SHAPE-007,
/// TL-BOUND-001.
inline constexpr AxisSpec kLast{.size = -1};
constexpr Over top_k(Axes a, std::int64_t size) { return slice(a, kLast, 0, size, 1); }

/// `size` elements of one axis from a start known at run time.
/// Errors: TL-AXIS-001, TL-SHAPE-007 (longer than the axis), TL-BOUND-001.
constexpr Over dynamic_slice(Axes a, const AxisSpec& selector, std::int64_t size) {
  return slice(a, selector, 0, size, 1);
}

/// A block written into the operand at starts known at run time: equal rank, no axis longer, no
/// name against another; sizes that the types lack are checked at run time. Errors: TL-RANK-001,
/// TL-SHAPE-007.
constexpr Plan dynamic_update(Axes a, Axes block) {
  Plan plan;
  if (length(a) != length(block)) {
    plan.refuse({"TL-RANK-001", "ranks differ"});
    return plan;
  }
  for (int i = 0; i < length(a); ++i) {
    const AxisSpec &whole = at(a, i), &part = at(block, i);
    const bool other_name = is_named(whole) && is_named(part) && whole.tag != part.tag;
    const bool longer = whole.size >= 0 && part.size > whole.size;
    if (other_name || longer) {
      plan.refuse({"TL-SHAPE-007", "", &whole, &part});
      return plan;
    }
    plan.keep(i);
  }
  return plan;
}

}  // namespace tlaloc::rules
