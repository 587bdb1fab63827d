#include "tlaloc/ops/sort_loops.h"

#include <algorithm>
#include <vector>

#include "tlaloc/ops/axes.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/scalar_graph.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {
namespace {

Val integer(std::int64_t n) { return scalar_int(n, DType::i64); }
/// x[at] of an array of rank 1, as a scalar; `at` may be out of range where nobody uses it.
Val element(Val x, Val at) {
  const Dim one = 1;
  return reshape(dynamic_slice(x, std::span(&at, 1), std::span(&one, 1)), {});
}
Val with_element(Val x, Val at, Val value) {
  const Dim one = 1;
  return dynamic_update_slice(x, reshape(value, std::span(&one, 1)), std::span(&at, 1));
}

/// All lines behind each other, and what turns them back.
struct Lines {
  Lines(Type t, std::int64_t axis) : type(t), there(axis_range(0, t.rank())), back(there) {
    std::rotate(there.begin() + axis, there.begin() + axis + 1, there.end());
    std::rotate(back.begin() + axis, back.end() - 1, back.end());
    for (std::int64_t k : there) shape.push_back(t.dim(static_cast<int>(k)));
  }
  Val flat(Val x) const {
    const Dim all = type.elements();
    return reshape(transpose(x, there), std::span(&all, 1));
  }
  Val whole(Val x) const { return transpose(reshape(x, shape), back); }
  Type type;
  AxisList there, back;
  std::vector<Dim> shape;
};

}  // namespace

Vals sort_by_merging(const SortAttrs& attrs, const Vals& in) {
  // Nothing can be read, not even where nobody would use it.
  if (in[0].type().elements() == Dim(0)) return in;
  const Lines lines(in[0].type(), attrs.axis);
  const Val length = dim_value(lines.shape.back()), count = dim_value(lines.type.elements());
  Vals xs;
  for (Val x : in) xs.push_back(lines.flat(x));
  const auto before = [&](Val a, Val b) {
    Vals pairs;
    for (Val x : xs) {
      pairs.push_back(element(x, a));
      pairs.push_back(element(x, b));
    }
    return emit_scalar_graph(*attrs.comparator->graph, pairs)[0];
  };
  // What lies where, sorted by runs of `width` in each line; two neighbours become one at a time.
  const Val unsorted = iota(Type::get(DType::i64, {{lines.type.elements()}}), 0);
  const auto merged = [&](Val width, Val from) {
    const auto step = [&](const Vals& c) {
      // The left run is [i, middle), the right one [j, end), both in the line that ends at `line`.
      const Val at = c[0], fresh = c[4] <= at;
      const Val line = select(c[5] <= at, c[5] + length, c[5]);
      const Val middle = select(fresh, min(at + width, line), c[2]);
      const Val i = select(fresh, at, c[1]), j = select(fresh, middle, c[3]);
      const Val end = select(fresh, min(middle + width, line), c[4]);
      const Val left = element(from, i), right = element(from, j);
      const Val takes_right = logical_and(j < end, logical_or(middle <= i, before(right, left)));
      const Val moved = convert(takes_right, DType::i64);
      return Vals{i + (integer(1) - moved),
                  middle,
                  j + moved,
                  end,
                  line,
                  with_element(c[6], at, select(takes_right, right, left))};
    };
    const Val zero = integer(0);
    return fori_loop(count, {zero, zero, zero, zero, zero, from}, step).back();
  };
  const Val order = while_loop(
                        {integer(1), unsorted}, [&](const Vals& c) { return Vals{c[0] < length}; },
                        [&](const Vals& c) { return Vals{c[0] + c[0], merged(c[0], c[1])}; })
                        .carries[1];
  Vals sorted;
  for (Val x : xs) sorted.push_back(lines.whole(take(x, order, 0)));
  return sorted;
}

}  // namespace tlaloc::ops
