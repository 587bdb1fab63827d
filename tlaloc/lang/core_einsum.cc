// General contraction, two operands at a time, over dot_general.
#include <algorithm>
#include <array>
#include <ranges>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::core {
namespace {

using ir::Dim;
using ir::Val;

struct Term {
  Val value;
  std::vector<int> labels;  ///< distinct

  std::int64_t place(int label) const {
    const auto at = std::ranges::find(labels, label);
    return at == labels.end() ? -1 : at - labels.begin();
  }
};

Val sum_axes(Val x, std::vector<std::int64_t> axes) {
  std::ranges::sort(axes);
  return axes.empty() ? x : ops::reduce_sum(x, axes);
}

/// The operand without stretched axes, and with the diagonal where a label stands twice.
Term prepared(Val v, std::span<const int> labels) {
  Term t;
  std::vector<Dim> shape;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    shape.push_back(v.shape()[i]);
    t.labels.push_back(labels[i]);
  }
  t.value = shape.size() < labels.size() ? ops::reshape(v, shape) : v;
  for (std::size_t j = 1; j < t.labels.size();) {
    const std::int64_t i = t.place(t.labels[j]);
    if (i == static_cast<std::int64_t>(j)) {
      ++j;
      continue;
    }
    const ir::Type index = t.value.type().with_dtype(DType::i64);
    const Val on_diagonal = ops::compare(ops::Comparison::eq, ops::iota(index, static_cast<int>(i)),
                                         ops::iota(index, static_cast<int>(j)));
    const std::array axes{static_cast<std::int64_t>(j)};
    t.value = ops::reduce_sum(ops::select(on_diagonal, t.value, ops::zeros_like(t.value)), axes);
    t.labels.erase(t.labels.begin() + static_cast<std::ptrdiff_t>(j));
  }
  return t;
}

/// Sums over the labels that `keep` does not want.
Term summed(Term t, const std::function<bool(int)>& keep) {
  std::vector<std::int64_t> axes;
  std::vector<int> kept;
  for (std::size_t i = 0; i < t.labels.size(); ++i) {
    if (keep(t.labels[i]))
      kept.push_back(t.labels[i]);
    else
      axes.push_back(static_cast<std::int64_t>(i));
  }
  return {sum_axes(t.value, std::move(axes)), std::move(kept)};
}

Term product(const Term& a, const Term& b, const std::function<bool(int)>& keep) {
  ops::DotDims dims;
  Term out;
  for (int label : a.labels) {
    const std::int64_t j = b.place(label);
    if (j < 0) continue;
    if (keep(label)) {
      dims.lhs_batch.push_back(a.place(label));
      dims.rhs_batch.push_back(j);
      out.labels.push_back(label);
    } else {
      dims.lhs_contract.push_back(a.place(label));
      dims.rhs_contract.push_back(j);
    }
  }
  for (int label : a.labels) {
    if (b.place(label) < 0) out.labels.push_back(label);
  }
  for (int label : b.labels) {
    if (a.place(label) < 0) out.labels.push_back(label);
  }
  out.value = ops::dot_general(a.value, b.value, std::move(dims));
  return out;
}

/// Axes of one label have one size.
void require_agreeing(const OpCall& call, std::span<const Labeled> operands) {
  struct Seen {
    int label;
    const Ref* value;
    int axis;
  };
  std::vector<Seen> seen;
  for (const Labeled& x : operands) {
    internal_check(static_cast<int>(x.labels.size()) == rank(*x.value), "einsum: labels per axis");
    for (int i = 0; i < rank(*x.value); ++i) {
      const int label = x.labels[static_cast<std::size_t>(i)];
      if (label < 0) continue;
      const auto at = std::ranges::find(seen, label, &Seen::label);
      if (at == seen.end())
        seen.push_back({label, x.value, i});
      else
        require_same(call, "TL-SHAPE-003", *at->value, at->axis, *x.value, i);
    }
  }
}

}  // namespace

Ref einsum(std::span<const Labeled> operands, std::span<const int> result, AxesSpec axes,
           Where where) {
  const auto labels = operands | std::views::transform(&Labeled::labels);
  const OpCall call{"einsum", where, Variant::of(result, labels)};
  return with_place(where, [&] {
    require_agreeing(call, operands);
    std::vector<Ref> values;
    for (const Labeled& x : operands) values.push_back(*x.value);
    return apply(call, values, axes, [&](std::span<const Val> in) {
      std::vector<Term> terms;
      for (std::size_t k = 0; k < in.size(); ++k) {
        terms.push_back(prepared(in[k], operands[k].labels));
      }
      const auto in_result = [&](int label) {
        return std::ranges::find(result, label) != result.end();
      };
      // A label that only one operand has is summed there, before any product.
      for (std::size_t k = 0; k < terms.size(); ++k) {
        terms[k] = summed(std::move(terms[k]), [&](int label) {
          if (in_result(label)) return true;
          for (std::size_t j = 0; j < terms.size(); ++j) {
            if (j != k && terms[j].place(label) >= 0) return true;
          }
          return false;
        });
      }
      Term all = std::move(terms[0]);
      for (std::size_t k = 1; k < terms.size(); ++k) {
        all = product(all, terms[k], [&](int label) {
          if (in_result(label)) return true;
          for (std::size_t j = k + 1; j < terms.size(); ++j) {
            if (terms[j].place(label) >= 0) return true;
          }
          return false;
        });
      }
      std::vector<std::int64_t> order;
      for (int label : result) {
        internal_check(all.place(label) >= 0, "einsum: a result label that no operand has");
        order.push_back(all.place(label));
      }
      return ops::transpose(all.value, order);
    });
  });
}

}  // namespace tlaloc::core
