// Sorting: comparators that say a standard order become one.
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_reduce.h"
#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo::raising {
namespace {

using ir::Val;
using ir::Vals;
using namespace ops;  // NOLINT: the vocabulary of rules

/// Params of a comparator: each operand's two elements, one after the other.
Vals comparator_params(ir::Builder& b, const Vals& operands) {
  Vals p;
  for (Val x : operands) {
    for (int side = 0; side < 2; ++side) p.push_back(b.param(ir::Type::scalar(x.dtype())));
  }
  return p;
}

/// As emission writes it: the first keys decide, NaN is the largest, -0 is 0.
ir::GraphRef emitted_order(const Vals& operands, std::size_t keys, bool descending) {
  ir::Builder b;
  const Vals v = comparator_params(b, operands);
  auto before = [](Val x, Val y) {
    const Val less = x < y;
    if (!is_float(x.dtype())) return less;
    return logical_or(less,
                      logical_and(compare(Comparison::eq, x, x), compare(Comparison::ne, y, y)));
  };
  std::optional<Val> result;
  for (std::size_t k = keys; k-- > 0;) {
    const Val x = v[2 * k + (descending ? 1 : 0)], y = v[2 * k + (descending ? 0 : 1)];
    const Val less = before(x, y);
    result = result ? select(logical_or(less, before(y, x)), less, *result) : less;
  }
  return b.build(std::span(&*result, 1));
}

/// As JAX writes it: zeros and NaNs made equal, then IEEE 754's total order.
ir::GraphRef jax_order(const Vals& operands, std::size_t keys) {
  ir::Builder b;
  const Vals v = comparator_params(b, operands);
  Vals canonical;
  for (std::size_t k = 0; k < 2 * keys; ++k) {
    Val x = v[k];
    if (is_float(x.dtype())) {
      const Val zero = zeros_like(x);
      const Val no_sign = select(compare(Comparison::eq, x, zero), zero, x);
      const Val nan = full(std::numeric_limits<double>::quiet_NaN(), x.type());
      x = select(compare(Comparison::ne, x, x), nan, no_sign);
    }
    canonical.push_back(x);
  }
  auto key = [&](std::size_t k) {
    return is_float(canonical[k].dtype()) ? total_order(canonical[k]) : canonical[k];
  };
  std::optional<Val> result;
  for (std::size_t k = keys; k-- > 0;) {
    const Val less = key(2 * k) < key(2 * k + 1);
    if (!result) {
      result = less;
      continue;
    }
    const Val same = compare(Comparison::eq, key(2 * k), key(2 * k + 1));
    result = logical_or(less, logical_and(same, *result));
  }
  return b.build(std::span(&*result, 1));
}

/// As CHLO's top_k is decomposed: IEEE 754's total order of the first operand.
ir::GraphRef total_order_of_first(const Vals& operands, bool descending) {
  ir::Builder b;
  const Vals v = comparator_params(b, operands);
  const Val before =
      compare(descending ? Comparison::gt : Comparison::lt, total_order(v[0]), total_order(v[1]));
  return b.build(std::span(&before, 1));
}
/// Sorting by that order, in which zeros differ by their sign: by integers beside what is sorted.
Vals sort_by_total_order(const Vals& operands, int axis, bool descending) {
  const Val key = total_order(operands[0]);
  Vals all{descending ? logical_not(key) : key};
  all.insert(all.end(), operands.begin(), operands.end());
  Vals sorted = sort(all, axis, 1);
  sorted.erase(sorted.begin());
  return sorted;
}

Vals sort_op(const Site& s) {
  s.expect_regions(1);
  if (s.count() == 0) s.fail("it sorts nothing");
  const Vals operands(s.in().begin(), s.in().end());
  const auto rank = static_cast<std::int64_t>(operands[0].rank());
  const std::int64_t said = s.integer_or({"dimension"}, -1);
  const std::int64_t axis = said < 0 ? said + rank : said;
  if (axis < 0 || axis >= rank) s.fail("it has no such axis");
  std::vector<DType> elements;
  for (Val x : operands) elements.insert(elements.end(), 2, x.dtype());
  const ir::GraphRef order = s.importer().scalar_graph(s, s.op().regions[0], elements);
  for (std::size_t keys = 1; keys <= std::min<std::size_t>(operands.size(), 8); ++keys) {
    for (const bool descending : {false, true}) {
      if (same_scalar_graph(*order, *emitted_order(operands, keys, descending))) {
        return sort(operands, static_cast<int>(axis), static_cast<int>(keys), descending);
      }
    }
    if (same_scalar_graph(*order, *jax_order(operands, keys))) {
      return sort(operands, static_cast<int>(axis), static_cast<int>(keys));
    }
  }
  for (const bool descending : {false, true}) {
    if (is_float(operands[0].dtype()) &&
        same_scalar_graph(*order, *total_order_of_first(operands, descending))) {
      return sort_by_total_order(operands, static_cast<int>(axis), descending);
    }
  }
  return sort(operands, static_cast<int>(axis), order);
}

Vals top_k_op(const Site& s) {
  s.expect_operands(1);
  if (s.op().result_count != 2) s.fail("it gives values and positions");
  const Val x = s.in(0);
  const std::int64_t k = s.integer({"k"});
  const DType position = s.result_type(1)->dtype;
  if (!is_float(x.dtype())) {
    const Sorted r = top_k(x, k, position);
    return {r.values, r.positions};
  }
  // IEEE 754's total order, in which zeros and NaNs differ by their sign.
  const Val positions = top_k(total_order(x), k, position).positions;
  return {take_along(x, positions, x.rank() - 1), positions};
}

}  // namespace

void add_order(RaiseTable& t) {
  t["stablehlo.sort"] = sort_op;
  t["chlo.top_k"] = top_k_op;
}

}  // namespace tlaloc::stablehlo::raising
