// Shape rules: one plain function each, over axes as data. At compile time they decide types and
// verdicts; where types don't know a size (`any`, Array, files) the same functions run.
//
// This file: the vocabulary, broadcasting, and choosing axes. Contractions, layout, indexing and
// windows have files of their own (rules_*.h).
#pragma once

#include <cstdint>
#include <span>

#include "tlaloc/lang/axis.h"
#include "tlaloc/lang/verdict.h"

namespace tlaloc::rules {

using core::AxisSpec;
using Axes = core::AxesSpec;

/// A short list of ints in place.
struct Ints {
  int size = 0;
  int list[kMaxRank]{};

  /// What does not fit is dropped: then the rank is too high, and Plan::push has said so.
  constexpr void add(int value) {
    if (size < kMaxRank) list[size++] = value;
  }
  constexpr bool has(int value) const {
    for (int i = 0; i < size; ++i) {
      if (list[i] == value) return true;
    }
    return false;
  }
  constexpr int operator[](int i) const { return list[i]; }
  constexpr operator std::span<const int>() const {  // NOLINT(google-explicit-constructor)
    return {list, static_cast<std::size_t>(size)};
  }
};

/// Where a result axis comes from: an operand axis, counted over all operands' axes one after
/// another, or, with axis -1, a new anonymous axis of `size` (-1: `any`).
struct Source {
  int axis = -1;
  std::int64_t size = -1;
};

/// What a rule decides: the result's axes, or the fault.
struct Plan {
  Fault fault;
  int rank = 0;
  Source axes[kMaxRank]{};

  constexpr bool ok() const { return fault.code == nullptr; }
  constexpr void keep(int axis) { push({.axis = axis}); }
  constexpr void add(std::int64_t size) { push({.size = size}); }
  constexpr void push(Source source) {
    if (rank == kMaxRank) {
      fault = {"TL-RANK-002", "rank above 12"};
    } else {
      axes[rank++] = source;
    }
  }
  constexpr Plan& refuse(Fault why) {
    if (ok()) fault = why;
    return *this;
  }
};

// ---- single axes ----

constexpr int length(Axes a) { return static_cast<int>(a.size()); }
constexpr const AxisSpec& at(Axes a, int i) { return a[static_cast<std::size_t>(i)]; }

constexpr bool is_named(const AxisSpec& a) { return a.tag != nullptr; }
/// A literal, anonymous 1: the only axis that stretches.
constexpr bool is_one(const AxisSpec& a) { return !is_named(a) && !a.any && a.size == 1; }
constexpr bool same_axis(const AxisSpec& a, const AxisSpec& b) {
  return a.tag == b.tag && a.size == b.size && a.bound == b.bound && a.any == b.any;
}
/// The one rule of equality. `any` fits everything and is checked when sizes are known. Two named
/// axes fit when name, size and bound are the same; otherwise both sizes must be known and equal:
/// 128 fits Hidden=128, 784 never fits Batch.
constexpr bool fits(const AxisSpec& a, const AxisSpec& b) {
  if (a.any || b.any) return true;
  if (is_named(a) && is_named(b)) return same_axis(a, b);
  return a.size >= 0 && a.size == b.size;
}
/// Of two axes that fit, whether b says more: a name, or anything where a is `any`.
constexpr bool says_more(const AxisSpec& b, const AxisSpec& a) {
  return !b.any && (a.any || (!is_named(a) && is_named(b)));
}

// ---- choosing axes ----

/// The position of the axis with this name; -1: none, -2: more than one.
constexpr int find(Axes a, const AxisSpec& name) {
  int found = -1;
  for (int i = 0; i < length(a); ++i) {
    if (is_named(name) && at(a, i).tag == name.tag) {
      if (found >= 0) return -2;
      found = i;
    }
  }
  return found;
}

/// A chosen axis: `axis` when there is no fault.
struct Chosen {
  Fault fault;
  int axis = -1;
};
/// Resolves a selector: a named axis, or an anonymous spec whose size is an index, negative from
/// the end. Errors: TL-AXIS-001 (none such), TL-AXIS-002 (the name stands twice), TL-SHAPE-003
/// (same name, another size), TL-AXIS-004 (neither an index nor an axis).
constexpr Chosen choose(Axes a, const AxisSpec& selector) {
  Chosen chosen;
  if (selector.size == kNoAxis) {
    chosen.fault = {"TL-AXIS-004", "an index or an axis is due"};
    return chosen;
  }
  if (is_named(selector)) {
    const int i = find(a, selector);
    if (i == -1) {
      chosen.fault = {"TL-AXIS-001", "no such axis", &selector};
    } else if (i == -2) {
      chosen.fault = {"TL-AXIS-002", "the name stands twice", &selector};
    } else if (!same_axis(at(a, i), selector)) {
      chosen.fault = {"TL-SHAPE-003", "", &at(a, i), &selector};
    } else {
      chosen.axis = i;
    }
    return chosen;
  }
  const std::int64_t n = length(a);
  const std::int64_t i = selector.size < 0 ? selector.size + n : selector.size;
  if (selector.any || i < 0 || i >= n) {
    chosen.fault = {"TL-AXIS-001", "no such axis", &selector};
  } else {
    chosen.axis = static_cast<int>(i);
  }
  return chosen;
}

/// Several chosen axes, each once; none given means all.
struct Selection {
  Fault fault;
  Ints axes;
};
constexpr Selection choose_all(Axes a, Axes selectors) {
  Selection selection;
  for (const AxisSpec& selector : selectors) {
    const Chosen chosen = choose(a, selector);
    if (chosen.fault) {
      selection.fault = chosen.fault;
      return selection;
    }
    if (selection.axes.has(chosen.axis)) {
      selection.fault = {"TL-AXIS-002", "an axis is named twice", &selector};
      return selection;
    }
    selection.axes.add(chosen.axis);
  }
  if (selectors.empty()) {
    for (int i = 0; i < length(a); ++i) selection.axes.add(i);
  }
  return selection;
}

// ---- conversions ----

/// An implicit conversion: equal rank, each pair fits. Errors: TL-RANK-001, TL-SHAPE-001,
/// TL-BOUND-001 (a size above the target's bound).
constexpr Plan convert(Axes from, Axes to) {
  Plan plan;
  if (length(from) != length(to)) return plan.refuse({"TL-RANK-001", "ranks differ"});
  for (int i = 0; i < length(from); ++i) {
    const AxisSpec &a = at(from, i), &b = at(to, i);
    if (b.bound >= 0 && a.size > b.bound) return plan.refuse({"TL-BOUND-001", "", &a, &b});
    if (!fits(a, b)) return plan.refuse({"TL-SHAPE-001", "", &a, &b});
    plan.keep(i);
  }
  return plan;
}
/// An explicit one may also give an axis another name or bind a size to a name; it is refused only
/// where the sizes are known to differ. Errors: as above.
constexpr Plan recast(Axes from, Axes to) {
  Plan plan;
  if (length(from) != length(to)) return plan.refuse({"TL-RANK-001", "ranks differ"});
  for (int i = 0; i < length(from); ++i) {
    const AxisSpec &a = at(from, i), &b = at(to, i);
    if (b.bound >= 0 && a.size > b.bound) return plan.refuse({"TL-BOUND-001", "", &a, &b});
    if (a.size >= 0 && b.size >= 0 && a.size != b.size) {
      return plan.refuse({"TL-SHAPE-001", "", &a, &b});
    }
    plan.keep(i);
  }
  return plan;
}

// ---- broadcasting ----

/// A plan, and for each operand where its axes went: -1 for a literal 1 that stretches.
struct Broadcast : Plan {
  Ints axis_of_a, axis_of_b;
};

namespace detail {
/// Whether all of `s` are named axes that stand in `l` in the same order; fills their places.
constexpr bool ordered_by_name(Axes s, Axes l, Ints& places) {
  int j = 0;
  for (int i = 0; i < length(l) && j < length(s); ++i) {
    if (is_named(at(s, j)) && same_axis(at(s, j), at(l, i)) && find(l, at(l, i)) >= 0) {
      places.add(i);
      ++j;
    }
  }
  return j == length(s);
}
}  // namespace detail

/// Rank 0 goes with anything. Equal rank: each pair fits, or one of it is a literal 1. Lower rank:
/// its axes are a suffix of the other's, or, all of them named, an ordered subsequence by name.
/// Nothing else: [3, 1] + [3] is refused, since stretching and changing rank never combine.
/// Error: TL-SHAPE-001.
constexpr Broadcast broadcast(Axes a, Axes b) {
  Broadcast plan;
  const int na = length(a), nb = length(b);
  if (na == nb) {
    for (int i = 0; i < na; ++i) {
      const bool stretch_a = is_one(at(a, i)) && !is_one(at(b, i));
      const bool stretch_b = is_one(at(b, i)) && !is_one(at(a, i));
      if (!stretch_a && !stretch_b && !fits(at(a, i), at(b, i))) {
        plan.refuse({"TL-SHAPE-001", "", &at(a, i), &at(b, i)});
        return plan;
      }
      const bool from_b = stretch_a || (!stretch_b && says_more(at(b, i), at(a, i)));
      plan.keep(from_b ? na + i : i);
      plan.axis_of_a.add(stretch_a ? -1 : i);
      plan.axis_of_b.add(stretch_b ? -1 : i);
    }
    return plan;
  }
  const bool a_short = na < nb;
  const Axes s = a_short ? a : b, l = a_short ? b : a;
  const int s0 = a_short ? 0 : na, l0 = a_short ? na : 0;
  const int shift = length(l) - length(s);
  Ints& axis_of_s = a_short ? plan.axis_of_a : plan.axis_of_b;
  Ints& axis_of_l = a_short ? plan.axis_of_b : plan.axis_of_a;
  for (int i = 0; i < length(l); ++i) {
    plan.keep(l0 + i);
    axis_of_l.add(i);
  }
  const AxisSpec* bad_s = nullptr;
  const AxisSpec* bad_l = nullptr;
  for (int i = 0; i < length(s) && bad_s == nullptr; ++i) {
    if (!fits(at(s, i), at(l, shift + i))) {
      bad_s = &at(s, i);
      bad_l = &at(l, shift + i);
    }
  }
  if (bad_s == nullptr) {
    for (int i = 0; i < length(s); ++i) {
      axis_of_s.add(shift + i);
      if (says_more(at(s, i), at(l, shift + i))) plan.axes[shift + i] = {.axis = s0 + i};
    }
    return plan;
  }
  if (!detail::ordered_by_name(s, l, axis_of_s)) {
    plan.refuse({"TL-SHAPE-001", "", a_short ? bad_s : bad_l, a_short ? bad_l : bad_s});
  }
  return plan;
}

/// Axes held by value: the result of a plan, as an operand of the next.
struct AxisList {
  int size = 0;
  AxisSpec list[kMaxRank]{};
  constexpr operator Axes() const {  // NOLINT(google-explicit-constructor)
    return {list, static_cast<std::size_t>(size)};
  }
};
/// The result axes of a plan over the axes of a, b and c, one after another.
constexpr AxisList result_axes(const Plan& plan, Axes a, Axes b = {}, Axes c = {}) {
  AxisList result;
  for (int i = 0; i < plan.rank; ++i) {
    const Source& s = plan.axes[i];
    if (s.axis < 0) {
      result.list[result.size++] = {.size = s.size, .any = s.size < 0};
    } else {
      const int in_b = s.axis - length(a), in_c = in_b - length(b);
      result.list[result.size++] = in_b < 0 ? at(a, s.axis) : in_c < 0 ? at(b, in_b) : at(c, in_c);
    }
  }
  return result;
}

/// Three operands: the first two broadcast, then the third with them. Error: TL-SHAPE-001.
struct Broadcast3 : Plan {
  Ints axis_of_a, axis_of_b, axis_of_c;
};
constexpr Broadcast3 broadcast(Axes a, Axes b, Axes c) {
  Broadcast3 plan;
  const Broadcast ab = broadcast(a, b);
  if (!ab.ok()) {
    plan.fault = ab.fault;
    return plan;
  }
  const AxisList both = result_axes(ab, a, b);
  const Broadcast all = broadcast(both, c);
  if (!all.ok()) {
    // The axes of `both` are not the caller's: name the operand that fits neither.
    plan.fault = {"TL-SHAPE-001", "the third shape does not align"};
    return plan;
  }
  for (int i = 0; i < all.rank; ++i) {
    const int axis = all.axes[i].axis;
    plan.push(axis < both.size ? ab.axes[axis]
                               : Source{.axis = axis - both.size + length(a) + length(b)});
  }
  auto through = [&](const Ints& inner, Ints& out) {
    for (int i = 0; i < inner.size; ++i) out.add(inner[i] < 0 ? -1 : all.axis_of_a[inner[i]]);
  };
  through(ab.axis_of_a, plan.axis_of_a);
  through(ab.axis_of_b, plan.axis_of_b);
  plan.axis_of_c = all.axis_of_b;
  return plan;
}

}  // namespace tlaloc::rules
