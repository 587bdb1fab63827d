// Shape rules of contractions: matmul, contract, tensordot, inner, outer, einsum.
#pragma once

#include "tlaloc/lang/rules.h"

namespace tlaloc::rules {

/// A contraction as core::einsum takes it: one label per axis. A label that the result lacks is
/// summed; -1 marks a literal 1 that stretches.
struct Contraction : Plan {
  Ints labels_a, labels_b, labels_result;
  int labels = 0;

  constexpr int fresh() { return labels++; }
  /// Adds a result axis of that label.
  constexpr void emit(int axis, int label) {
    keep(axis);
    labels_result.add(label);
  }
};

/// [..., m, k] by [..., k, n] -> [..., m, n]; the leading axes broadcast; a vector stands for a
/// single row or column, which the result lacks (numpy.matmul).
/// Errors: TL-SHAPE-003 (k), TL-SHAPE-001 (leading axes), TL-RANK-001 (rank 0).
constexpr Contraction matmul(Axes a, Axes b) {
  Contraction c;
  const int na = length(a), nb = length(b);
  if (na == 0 || nb == 0) {
    c.refuse({"TL-RANK-001", "matmul of a scalar: use *"});
    return c;
  }
  const int ka = na - 1, kb = nb == 1 ? 0 : nb - 2;
  if (!fits(at(a, ka), at(b, kb))) {
    c.refuse({"TL-SHAPE-003", "", &at(a, ka), &at(b, kb)});
    return c;
  }
  const Axes lead_a = a.first(static_cast<std::size_t>(na > 1 ? na - 2 : 0));
  const Axes lead_b = b.first(static_cast<std::size_t>(nb > 1 ? nb - 2 : 0));
  const Broadcast lead = broadcast(lead_a, lead_b);
  if (!lead.ok()) {
    c.refuse(lead.fault);
    return c;
  }
  for (int i = 0; i < lead.rank; ++i) {
    const int axis = lead.axes[i].axis;
    c.emit(axis < length(lead_a) ? axis : axis - length(lead_a) + na, c.fresh());
  }
  const int k = c.fresh();
  for (int i = 0; i < length(lead_a); ++i) c.labels_a.add(lead.axis_of_a[i]);
  for (int i = 0; i < length(lead_b); ++i) c.labels_b.add(lead.axis_of_b[i]);
  if (na > 1) {
    c.emit(na - 2, c.fresh());
    c.labels_a.add(c.labels - 1);
  }
  c.labels_a.add(k);
  c.labels_b.add(k);
  if (nb > 1) {
    c.emit(na + nb - 1, c.fresh());
    c.labels_b.add(c.labels - 1);
  }
  return c;
}

namespace detail {
/// Labels pairs (pairs_a[i], pairs_b[i]) as contracted, `batch` pairs as shared, the rest as free;
/// the result has a's axes, then b's that a lacks.
constexpr void label_free(Contraction& c, Axes a, Axes b, const Ints& contract_a,
                          const Ints& contract_b, const Ints& batch_a, const Ints& batch_b) {
  int label_of_a[kMaxRank]{}, label_of_b[kMaxRank]{};
  for (int i = 0; i < length(a); ++i) label_of_a[i] = -1;
  for (int i = 0; i < length(b); ++i) label_of_b[i] = -1;
  for (int i = 0; i < contract_a.size; ++i) {
    label_of_a[contract_a[i]] = label_of_b[contract_b[i]] = c.fresh();
  }
  for (int i = 0; i < batch_a.size; ++i)
    label_of_a[batch_a[i]] = label_of_b[batch_b[i]] = c.fresh();
  for (int i = 0; i < length(a); ++i) {
    if (!contract_a.has(i)) {
      if (label_of_a[i] < 0) label_of_a[i] = c.fresh();
      c.emit(i, label_of_a[i]);
    }
    c.labels_a.add(label_of_a[i]);
  }
  for (int i = 0; i < length(b); ++i) {
    if (label_of_b[i] < 0) {
      label_of_b[i] = c.fresh();
      c.emit(length(a) + i, label_of_b[i]);
    }
    c.labels_b.add(label_of_b[i]);
  }
}
}  // namespace detail

/// Sums over the named axes, which both operands carry; every other name that both carry is a batch
/// axis. The result has a's axes, then b's. Errors: TL-AXIS-003 (an axis is not in both),
/// TL-AXIS-002, TL-SHAPE-003 (a shared name with two sizes).
constexpr Contraction contract(Axes a, Axes b, Axes over) {
  Contraction c;
  Ints contract_a, contract_b, batch_a, batch_b;
  for (const AxisSpec& name : over) {
    const Chosen in_a = choose(a, name), in_b = choose(b, name);
    if (!is_named(name) || find(a, name) == -1 || find(b, name) == -1) {
      c.refuse({"TL-AXIS-003", "not in both", &name});
      return c;
    }
    if (in_a.fault || in_b.fault) {
      c.refuse(in_a.fault ? in_a.fault : in_b.fault);
      return c;
    }
    contract_a.add(in_a.axis);
    contract_b.add(in_b.axis);
  }
  for (int i = 0; i < length(a); ++i) {
    if (contract_a.has(i) || !is_named(at(a, i))) continue;
    const int j = find(b, at(a, i));
    if (j == -1) continue;
    if (j == -2 || find(a, at(a, i)) == -2) {
      c.refuse({"TL-AXIS-002", "the name stands twice", &at(a, i)});
      return c;
    }
    if (!fits(at(a, i), at(b, j))) {
      c.refuse({"TL-SHAPE-003", "", &at(a, i), &at(b, j)});
      return c;
    }
    batch_a.add(i);
    batch_b.add(j);
  }
  detail::label_free(c, a, b, contract_a, contract_b, batch_a, batch_b);
  return c;
}

/// Sums over the last `count` axes of a and the first `count` of b, in order; the result has the
/// other axes of a, then those of b (numpy.tensordot). Errors: TL-RANK-001, TL-SHAPE-003.
constexpr Contraction tensordot(Axes a, Axes b, int count) {
  Contraction c;
  Ints contract_a, contract_b;
  if (count < 0 || count > length(a) || count > length(b)) {
    c.refuse({"TL-RANK-001", "more axes than there are"});
    return c;
  }
  for (int i = 0; i < count; ++i) {
    const int j = length(a) - count + i;
    if (!fits(at(a, j), at(b, i))) {
      c.refuse({"TL-SHAPE-003", "", &at(a, j), &at(b, i)});
      return c;
    }
    contract_a.add(j);
    contract_b.add(i);
  }
  detail::label_free(c, a, b, contract_a, contract_b, {}, {});
  return c;
}

/// Sums over the last axis of both: [a..., k] by [b..., k] -> [a..., b...] (numpy.inner).
/// Errors: TL-RANK-001, TL-SHAPE-003.
constexpr Contraction inner(Axes a, Axes b) {
  Contraction c;
  if (a.empty() || b.empty()) {
    c.refuse({"TL-RANK-001", "inner of a scalar: use *"});
    return c;
  }
  if (!fits(a.back(), b.back())) {
    c.refuse({"TL-SHAPE-003", "", &a.back(), &b.back()});
    return c;
  }
  Ints last_a, last_b;
  last_a.add(length(a) - 1);
  last_b.add(length(b) - 1);
  detail::label_free(c, a, b, last_a, last_b, {}, {});
  return c;
}

/// [a...] by [b...] -> [a..., b...].
constexpr Contraction outer(Axes a, Axes b) {
  Contraction c;
  detail::label_free(c, a, b, {}, {}, {}, {});
  return c;
}

// ---- einsum ----

inline constexpr int kMaxOperands = 8;

/// An einsum over any number of operands, as core::einsum takes it.
struct Einsum : Plan {
  int operands = 0;
  Ints labels[kMaxOperands];
  Ints labels_result;
};

/// "bij,bjk->bik": one letter per axis, operands parted by commas, the result after the arrow
/// (numpy.einsum with explicit output; blanks are ignored). A letter that the result lacks is
/// summed, a letter twice in one operand takes the diagonal. Errors: TL-EINSUM-001 (the text),
/// TL-EINSUM-002 (operand count), TL-RANK-001 (letters and rank differ), TL-SHAPE-003 (one letter,
/// two sizes).
constexpr Einsum einsum(const char* text, std::span<const Axes> operands) {
  Einsum plan;
  Source source_of[52]{};
  const AxisSpec* spec_of[52]{};
  auto letter = [](char c) {
    if (c >= 'a' && c <= 'z') return c - 'a';
    if (c >= 'A' && c <= 'Z') return c - 'A' + 26;
    return -1;
  };
  int first = 0;  // the number of the operand's first axis
  const int given = static_cast<int>(operands.size());
  bool arrow = false;
  int axis = 0;
  auto close_operand = [&]() -> bool {
    if (plan.operands >= given) return false;
    if (axis != length(operands[static_cast<std::size_t>(plan.operands)])) {
      plan.refuse({"TL-RANK-001", "one letter per axis"});
    }
    first += length(operands[static_cast<std::size_t>(plan.operands)]);
    ++plan.operands;
    axis = 0;
    return true;
  };
  for (const char* p = text; *p != '\0' && plan.ok(); ++p) {
    if (*p == ' ') continue;
    if (!arrow && (*p == ',' || *p == '-')) {
      if (!close_operand()) plan.refuse({"TL-EINSUM-002", "more operands in the text"});
      if (*p == '-') {
        arrow = p[1] == '>';
        if (arrow) ++p;
        if (!arrow) plan.refuse({"TL-EINSUM-001", "'-' without '>'"});
      }
      continue;
    }
    const int l = letter(*p);
    if (l < 0) {
      plan.refuse({"TL-EINSUM-001", "a letter, ',' or '->' is due"});
    } else if (arrow) {
      if (spec_of[l] == nullptr) {
        plan.refuse({"TL-EINSUM-001", "a result letter is in no operand"});
      } else if (plan.labels_result.has(l)) {
        plan.refuse({"TL-EINSUM-001", "a letter twice in the result"});
      } else {
        plan.push(source_of[l]);
        plan.labels_result.add(l);
      }
    } else if (plan.operands >= given || plan.operands >= kMaxOperands) {
      plan.refuse({"TL-EINSUM-002", "more operands in the text"});
    } else {
      const Axes a = operands[static_cast<std::size_t>(plan.operands)];
      if (axis >= length(a)) {
        plan.refuse({"TL-RANK-001", "one letter per axis"});
        break;
      }
      if (spec_of[l] != nullptr && !fits(*spec_of[l], at(a, axis))) {
        plan.refuse({"TL-SHAPE-003", "", spec_of[l], &at(a, axis)});
        break;
      }
      if (spec_of[l] == nullptr || says_more(at(a, axis), *spec_of[l])) {
        spec_of[l] = &at(a, axis);
        source_of[l] = {.axis = first + axis};
      }
      plan.labels[plan.operands].add(l);
      ++axis;
    }
  }
  if (plan.ok() && !arrow) plan.refuse({"TL-EINSUM-001", "the result after '->' is missing"});
  if (plan.ok() && plan.operands != given)
    plan.refuse({"TL-EINSUM-002", "more operands than in the text"});
  return plan;
}

}  // namespace tlaloc::rules
