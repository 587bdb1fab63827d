// Shape rules that move, drop, join and cut axes.
#pragma once

#include "tlaloc/lang/rules.h"

namespace tlaloc::rules {

/// A plan with the operand axes that it works on.
struct Over : Plan {
  Ints axes_over;
};

/// Drops the chosen axes (none chosen: all), or leaves a literal 1 in their place.
/// Errors: TL-AXIS-001, TL-AXIS-002, TL-SHAPE-003.
constexpr Over reduce(Axes a, Axes selectors, bool keep) {
  Over plan;
  const Selection selection = choose_all(a, selectors);
  if (selection.fault) {
    plan.refuse(selection.fault);
    return plan;
  }
  plan.axes_over = selection.axes;
  for (int i = 0; i < length(a); ++i) {
    if (!selection.axes.has(i)) {
      plan.keep(i);
    } else if (keep) {
      plan.add(1);
    }
  }
  return plan;
}

/// Keeps every axis and names the chosen one. Errors: as for `choose`.
constexpr Over keep_all(Axes a, const AxisSpec& selector) {
  Over plan;
  const Chosen chosen = choose(a, selector);
  if (chosen.fault) plan.refuse(chosen.fault);
  plan.axes_over.add(chosen.axis);
  for (int i = 0; i < length(a); ++i) plan.keep(i);
  return plan;
}

/// Result axis i is operand axis `permutation[i]`; without a permutation the axes are reversed.
/// Errors: TL-RANK-001 (one entry per axis), TL-AXIS-001, TL-AXIS-002.
constexpr Over transpose(Axes a, Axes permutation) {
  Over plan;
  if (permutation.empty()) {
    for (int i = length(a) - 1; i >= 0; --i) {
      plan.axes_over.add(i);
      plan.keep(i);
    }
    return plan;
  }
  if (length(permutation) != length(a)) {
    plan.refuse({"TL-RANK-001", "one index per axis"});
    return plan;
  }
  const Selection selection = choose_all(a, permutation);
  if (selection.fault) {
    plan.refuse(selection.fault);
    return plan;
  }
  plan.axes_over = selection.axes;
  for (int i = 0; i < selection.axes.size; ++i) plan.keep(selection.axes[i]);
  return plan;
}

// ---- reshape ----

/// The number of elements as a monomial: a coefficient times the axes without a size.
struct Monomial {
  std::int64_t coefficient = 1;
  bool any = false;  ///< times a size that the type says nothing of
  int factors = 0;
  const AxisSpec* factor[kMaxRank]{};
};
constexpr Monomial elements(Axes a) {
  Monomial m;
  for (const AxisSpec& axis : a) {
    if (axis.any) {
      m.any = true;
    } else if (axis.size >= 0) {
      m.coefficient *= axis.size;
    } else {
      m.factor[m.factors++] = &axis;
    }
  }
  return m;
}
constexpr bool same_elements(const Monomial& a, const Monomial& b) {
  if (a.any || b.any) return true;
  if (a.coefficient != b.coefficient || a.factors != b.factors) return false;
  bool used[kMaxRank]{};
  for (int i = 0; i < a.factors; ++i) {
    bool found = false;
    for (int j = 0; j < b.factors && !found; ++j) {
      if (!used[j] && same_axis(*a.factor[i], *b.factor[j])) found = used[j] = true;
    }
    if (!found) return false;
  }
  return true;
}

/// The result has the axes `to`. `from[i]` is the operand axis that gives an axis without a size
/// its size, or -1; one `any` may be inferred.
struct Reshape : Plan {
  Ints from;
};
/// Row-major elements under new axes; the numbers of elements must be provably equal, or `any` is
/// involved. Sources of the plan count the operand's axes, then those of `to`.
/// Errors: TL-SHAPE-004 (numbers of elements), TL-SHAPE-005 (two sizes to infer), TL-AXIS-001 (an
/// axis without a size that the operand lacks).
constexpr Reshape reshape(Axes a, Axes to) {
  Reshape plan;
  int inferred = 0;
  for (int i = 0; i < length(to); ++i) {
    const AxisSpec& axis = at(to, i);
    plan.push({.axis = length(a) + i});
    int from = -1;
    if (axis.any) {
      ++inferred;
    } else if (axis.size < 0) {
      for (int j = 0; j < length(a) && from < 0; ++j) {
        if (same_axis(at(a, j), axis)) from = j;
      }
      // Without a partner its size follows from the others, if the operand's size is open too.
      if (from < 0) {
        ++inferred;
        if (!elements(a).any) plan.refuse({"TL-AXIS-001", "the operand lacks", &axis});
      }
    }
    plan.from.add(from);
  }
  if (inferred > 1) plan.refuse({"TL-SHAPE-005", "two sizes to infer"});
  if (!same_elements(elements(a), elements(to))) {
    plan.refuse({"TL-SHAPE-004", "numbers of elements differ"});
  }
  return plan;
}

/// To the axes `to`, by the broadcasting rule; the operand must not stretch `to`. Sources count the
/// operand's axes, then those of `to`. Error: TL-SHAPE-001.
constexpr Broadcast broadcast_to(Axes a, Axes to) {
  Broadcast plan = broadcast(a, to);
  if (!plan.ok()) return plan;
  if (length(a) > length(to)) {
    plan.refuse({"TL-RANK-001", "the target has a lower rank"});
    return plan;
  }
  for (int i = 0; i < length(to); ++i) {
    if (plan.axis_of_b[i] < 0) {
      plan.refuse({"TL-SHAPE-001", "", &at(a, i), &at(to, i)});
      return plan;
    }
    plan.axes[i] = {.axis = length(a) + i};
  }
  return plan;
}

/// Adds an anonymous axis of size 1 before axis `index` of the result (numpy.expand_dims).
/// Error: TL-AXIS-001.
constexpr Over expand(Axes a, int index) {
  Over plan;
  const int n = length(a) + 1;
  const int place = index < 0 ? index + n : index;
  if (place < 0 || place >= n) {
    plan.refuse({"TL-AXIS-001", "no such axis"});
    return plan;
  }
  for (int i = 0; i < n; ++i) {
    if (i == place) {
      plan.add(1);
    } else {
      plan.keep(i < place ? i : i - 1);
    }
  }
  plan.axes_over.add(place);
  return plan;
}

/// Drops the chosen axes, each of which has size 1. Errors: TL-AXIS-001, TL-SHAPE-010 (another
/// size).
constexpr Over squeeze(Axes a, Axes selectors) {
  Over plan = reduce(a, selectors, false);
  for (int i = 0; i < plan.axes_over.size && plan.ok(); ++i) {
    const AxisSpec& axis = at(a, plan.axes_over[i]);
    if (!axis.any && axis.size != 1) plan.refuse({"TL-SHAPE-010", "size is not 1", &axis});
  }
  return plan;
}

// ---- joining and cutting ----

/// Joins along one axis; the others must fit. The axis becomes the sum of the sizes, or `any`.
/// Errors: TL-RANK-001, TL-AXIS-001, TL-SHAPE-006 (another axis differs).
constexpr Over concat(std::span<const Axes> operands, const AxisSpec& selector) {
  Over plan;
  const Axes a = operands[0];
  const Chosen chosen = choose(a, selector);
  if (chosen.fault) {
    plan.refuse(chosen.fault);
    return plan;
  }
  plan.axes_over.add(chosen.axis);
  for (int i = 0; i < length(a); ++i) {
    Source source{.axis = i};
    AxisSpec best = at(a, i);
    std::int64_t total = best.size;
    int first = length(a);
    for (const Axes& b : operands.subspan(1)) {
      if (length(b) != length(a)) {
        plan.refuse({"TL-RANK-001", "ranks differ"});
        return plan;
      }
      const AxisSpec& axis = at(b, i);
      if (i == chosen.axis) {
        total = total < 0 || axis.size < 0 ? -1 : total + axis.size;
      } else if (!fits(best, axis)) {
        plan.refuse({"TL-SHAPE-006", "", &at(a, i), &axis});
        return plan;
      } else if (says_more(axis, best)) {
        best = axis;
        source = {.axis = first + i};
      }
      first += length(b);
    }
    plan.push(i == chosen.axis && operands.size() > 1 ? Source{.size = total} : source);
  }
  return plan;
}

/// Joins along a new axis at `index` of the result, of the number of operands (-1: not in the
/// type). All shapes must fit. Errors: TL-RANK-001, TL-AXIS-001, TL-SHAPE-006.
constexpr Over stack(std::span<const Axes> operands, int index, std::int64_t count) {
  Over plan;
  const Axes a = operands[0];
  const int n = length(a) + 1;
  const int place = index < 0 ? index + n : index;
  if (place < 0 || place >= n) {
    plan.refuse({"TL-AXIS-001", "no such axis"});
    return plan;
  }
  plan.axes_over.add(place);
  for (int i = 0; i < n; ++i) {
    if (i == place) {
      plan.add(count);
      continue;
    }
    const int k = i < place ? i : i - 1;
    Source source{.axis = k};
    AxisSpec best = at(a, k);
    int first = length(a);
    for (const Axes& b : operands.subspan(1)) {
      if (length(b) != length(a)) {
        plan.refuse({"TL-RANK-001", "ranks differ"});
        return plan;
      }
      if (!fits(best, at(b, k))) {
        plan.refuse({"TL-SHAPE-006", "", &at(a, k), &at(b, k)});
        return plan;
      }
      if (says_more(at(b, k), best)) {
        best = at(b, k);
        source = {.axis = first + k};
      }
      first += length(b);
    }
    plan.push(source);
  }
  return plan;
}

/// One of `parts` equal parts along an axis. Errors: TL-AXIS-001, TL-SHAPE-008 (not divisible).
constexpr Over split(Axes a, const AxisSpec& selector, std::int64_t parts) {
  Over plan;
  const Chosen chosen = choose(a, selector);
  if (chosen.fault) {
    plan.refuse(chosen.fault);
    return plan;
  }
  plan.axes_over.add(chosen.axis);
  const std::int64_t size = at(a, chosen.axis).size;
  if (parts < 1 || (size >= 0 && size % parts != 0)) {
    plan.refuse({"TL-SHAPE-008", "no equal parts of", &at(a, chosen.axis)});
    return plan;
  }
  for (int i = 0; i < length(a); ++i) {
    if (i != chosen.axis || parts == 1) {
      plan.keep(i);
    } else {
      plan.add(size < 0 ? -1 : size / parts);
    }
  }
  return plan;
}

/// Whether sizes that sum up to `total` fill one axis. Errors: TL-AXIS-001, TL-SHAPE-008.
constexpr Over split_sizes(Axes a, const AxisSpec& selector, std::int64_t total) {
  Over plan = keep_all(a, selector);
  if (!plan.ok()) return plan;
  const AxisSpec& axis = at(a, plan.axes_over[0]);
  if (axis.size >= 0 && axis.size != total) {
    plan.refuse({"TL-SHAPE-008", "the sizes do not fill", &axis});
  }
  return plan;
}

/// Elements low, low + step, … below high of one axis. An axis without a size takes no negative
/// bound; its size is checked when it is known.
/// Errors: TL-AXIS-001, TL-SHAPE-007 (out of range), TL-BOUND-001 (above the axis's bound).
constexpr Over slice(Axes a, const AxisSpec& selector, std::int64_t low, std::int64_t high,
                     std::int64_t step) {
  Over plan;
  const Chosen chosen = choose(a, selector);
  if (chosen.fault) {
    plan.refuse(chosen.fault);
    return plan;
  }
  plan.axes_over.add(chosen.axis);
  const AxisSpec& axis = at(a, chosen.axis);
  if (axis.size >= 0) {
    if (low < 0) low += axis.size;
    if (high < 0) high += axis.size;
  }
  if (step < 1 || low < 0 || high < low || (axis.size >= 0 && high > axis.size)) {
    plan.refuse({"TL-SHAPE-007", "slice out of range of", &axis});
    return plan;
  }
  if (axis.bound >= 0 && high > axis.bound) {
    plan.refuse({"TL-BOUND-001", "slice beyond", &axis});
    return plan;
  }
  for (int i = 0; i < length(a); ++i) {
    if (i == chosen.axis) {
      plan.add((high - low + step - 1) / step);
    } else {
      plan.keep(i);
    }
  }
  return plan;
}

/// One axis grows by low + high, and by `interior` between elements. Errors: TL-AXIS-001,
/// TL-SHAPE-007 (less than nothing is left).
constexpr Over pad(Axes a, const AxisSpec& selector, std::int64_t low, std::int64_t high,
                   std::int64_t interior) {
  Over plan = keep_all(a, selector);
  if (!plan.ok() || (low == 0 && high == 0 && interior == 0)) return plan;
  const int i = plan.axes_over[0];
  const AxisSpec& axis = at(a, i);
  std::int64_t size = -1;
  if (axis.size >= 0) {
    const std::int64_t gaps = axis.size > 1 ? axis.size - 1 : 0;
    size = axis.size + gaps * interior + low + high;
    if (size < 0 || interior < 0)
      plan.refuse({"TL-SHAPE-007", "cuts more than there is of", &axis});
  }
  plan.axes[i] = {.size = size};
  return plan;
}

/// Axis i is repeated counts[i] times. Errors: TL-RANK-001, TL-SHAPE-007 (a negative count).
constexpr Plan tile(Axes a, std::span<const std::int64_t> counts) {
  Plan plan;
  if (counts.size() != a.size()) {
    plan.refuse({"TL-RANK-001", "one count per axis"});
    return plan;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (counts[i] < 0) plan.refuse({"TL-SHAPE-007", "a negative count"});
    if (counts[i] == 1) {
      plan.keep(static_cast<int>(i));
    } else {
      plan.add(a[i].size < 0 ? -1 : a[i].size * counts[i]);
    }
  }
  return plan;
}

/// One axis grows `count` times. Errors: TL-AXIS-001, TL-SHAPE-007.
constexpr Over repeat(Axes a, const AxisSpec& selector, std::int64_t count) {
  Over plan = keep_all(a, selector);
  if (count < 0) plan.refuse({"TL-SHAPE-007", "a negative count"});
  if (!plan.ok() || count == 1) return plan;
  const int axis = plan.axes_over[0];
  const std::int64_t size = at(a, axis).size;
  plan.axes[axis] = {.size = size < 0 ? -1 : size * count};
  return plan;
}

}  // namespace tlaloc::rules
