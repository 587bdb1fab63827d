// Shape rules of composites: losses, normalization, attention, rotary embedding.
#pragma once

#include "tlaloc/lang/rules.h"

namespace tlaloc::rules {

/// Equal shapes, axis by axis. Errors: TL-RANK-001, TL-SHAPE-001.
constexpr Plan same(Axes a, Axes b) {
  Plan plan;
  if (length(a) != length(b)) return plan.refuse({"TL-RANK-001", "ranks differ"});
  for (int i = 0; i < length(a); ++i) {
    if (!fits(at(a, i), at(b, i))) return plan.refuse({"TL-SHAPE-001", "", &at(a, i), &at(b, i)});
    plan.keep(says_more(at(b, i), at(a, i)) ? length(a) + i : i);
  }
  return plan;
}

/// logits [d..., classes], ids [d...] -> [d...]. Errors: TL-RANK-001, TL-SHAPE-006.
constexpr Plan cross_entropy(Axes logits, Axes ids) {
  Plan plan;
  if (length(logits) != length(ids) + 1) {
    return plan.refuse({"TL-RANK-001", "logits: [d..., classes], ids: [d...]"});
  }
  for (int i = 0; i < length(ids); ++i) {
    const AxisSpec &a = at(logits, i), &b = at(ids, i);
    if (!fits(a, b)) return plan.refuse({"TL-SHAPE-006", "", &a, &b});
    plan.keep(says_more(b, a) ? length(logits) + i : i);
  }
  return plan;
}

/// A vector that goes with x's last axis. Errors: TL-RANK-001, TL-SHAPE-001.
constexpr Plan last_axis(Axes x, Axes vector) {
  Plan plan;
  if (x.empty() || length(vector) != 1) {
    return plan.refuse({"TL-RANK-001", "a vector of the last axis is due"});
  }
  if (!fits(x.back(), vector[0])) return plan.refuse({"TL-SHAPE-001", "", &x.back(), &vector[0]});
  return plan;
}

/// x: [n, ..., c] -> [c]. Errors: TL-RANK-001.
constexpr Plan channels(Axes x) {
  Plan plan;
  if (length(x) < 2) return plan.refuse({"TL-RANK-001", "x: [n, ..., channels]"});
  plan.keep(length(x) - 1);
  return plan;
}

/// q: [..., queries, width], k: [..., keys, width], v: [..., keys, value width]; the mask
/// broadcasts to [..., queries, keys] without stretching it. Sources count q's axes, then v's.
/// Errors: TL-RANK-001, TL-SHAPE-003 (width), TL-SHAPE-006 (keys, leading axes), TL-SHAPE-001
/// (mask).
constexpr Plan attention(Axes q, Axes k, Axes v, Axes mask) {
  Plan plan;
  const int n = length(q);
  if (n < 2 || length(k) != n || length(v) != n) {
    return plan.refuse({"TL-RANK-001", "q, k, v: [..., length, width]"});
  }
  if (!fits(q.back(), k.back())) return plan.refuse({"TL-SHAPE-003", "", &q.back(), &k.back()});
  if (!fits(at(k, n - 2), at(v, n - 2))) {
    return plan.refuse({"TL-SHAPE-006", "", &at(k, n - 2), &at(v, n - 2)});
  }
  for (int i = 0; i + 2 < n; ++i) {
    const AxisSpec &a = at(q, i), &b = at(k, i);
    if (!fits(b, at(v, i))) return plan.refuse({"TL-SHAPE-006", "", &b, &at(v, i)});
    const bool grouped = i + 3 == n && a.size > 0 && b.size > 0 && a.size % b.size == 0;
    if (!fits(a, b) && !grouped) return plan.refuse({"TL-SHAPE-006", "", &a, &b});
    plan.keep(i);
  }
  plan.keep(n - 2);
  plan.keep(n + n - 1);
  AxisList scores;
  for (int i = 0; i + 1 < n; ++i) scores.list[scores.size++] = at(q, i);
  scores.list[scores.size++] = at(k, n - 2);
  const Broadcast hidden = broadcast(mask, scores);
  bool stretched = !hidden.ok() || length(mask) > scores.size;
  for (int i = 0; i < hidden.axis_of_b.size; ++i) stretched = stretched || hidden.axis_of_b[i] < 0;
  if (stretched) plan.refuse({"TL-SHAPE-001", "mask: [..., queries, keys]"});
  return plan;
}

/// x: [..., width], width even; positions broadcast to [...] without stretching it.
/// Errors: TL-RANK-001, TL-SHAPE-008, TL-SHAPE-001.
constexpr Plan rope(Axes x, Axes positions) {
  Plan plan;
  if (x.empty()) return plan.refuse({"TL-RANK-001", "x: [..., width]"});
  if (x.back().size >= 0 && x.back().size % 2 != 0) {
    return plan.refuse({"TL-SHAPE-008", "an odd width", &x.back()});
  }
  const Axes rest = x.first(x.size() - 1);
  const Broadcast turned = broadcast(positions, rest);
  bool stretched = !turned.ok() || length(positions) > length(rest);
  for (int i = 0; i < turned.axis_of_b.size; ++i) stretched = stretched || turned.axis_of_b[i] < 0;
  if (stretched) plan.refuse({"TL-SHAPE-001", "positions: [...] of x: [..., width]"});
  return plan;
}

}  // namespace tlaloc::rules
