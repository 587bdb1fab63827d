// Cases of ops that move elements, and of reductions.
#include <algorithm>
#include <array>
#include <numeric>

#include "tests/conformance/cases.h"
#include "tlaloc/ops/reduce.h"

namespace tlaloc::runtime::conformance {
namespace {

using ir::Vals;
using Axes = std::vector<std::int64_t>;

void broadcasts(Cases& cases, const Row&) {
  struct Example {
    Extents from, to;
    Axes axes;
  };
  const Example examples[] = {
      {{}, {}, {}},
      {{}, {7}, {}},
      {{}, {3, 0}, {}},
      {{5}, {3, 5}, {1}},
      {{3}, {3, 5}, {0}},
      {{3, 5}, {5, 2, 3}, {2, 0}},
      {{1, 5}, {4, 5}, {0, 1}},
      {{1}, {0}, {0}},
      {{3, 1, 5}, {3, 4, 5}, {0, 1, 2}},
      {{2, 3}, {1, 2, 3, 1, 2, 3}, {1, 2}},
      {{1, 1, 2}, {3, 2, 2, 2, 1, 2}, {0, 1, 5}},
      {{67}, {33, 67}, {1}},
  };
  for (DType t : dtypes_by_size()) {
    for (const Example& e : examples) {
      cases.add(shape_label(t, e.from) + "to" + list_label(e.to) + list_label(e.axes),
                {cases.array(t, e.from)}, [&](const Vals& p, Sizes& sizes) -> Vals {
                  return {ops::broadcast_in_dim(p[0], sizes(e.to), e.axes)};
                });
    }
  }
}

void reshapes(Cases& cases, const Row&) {
  const std::pair<Extents, Extents> examples[] = {
      {{}, {1}},           {{1, 1}, {}},  {{6}, {2, 3}},    {{2, 3}, {6}},
      {{2, 3, 4}, {4, 6}}, {{0, 5}, {0}}, {{0}, {3, 0, 2}}, {{4, 6}, {2, 2, 1, 3, 2, 1}},
      {{1031}, {1, 1031}}};
  for (DType t : dtypes_by_size()) {
    for (const auto& [from, to] : examples) {
      cases.add(
          shape_label(t, from) + "to" + list_label(to), {cases.array(t, from)},
          [&](const Vals& p, Sizes& sizes) -> Vals { return {ops::reshape(p[0], sizes(to))}; });
    }
  }
}

void transposes(Cases& cases, const Row&) {
  for (DType t : dtypes_by_size()) {
    for (const Extents& shape : shapes(false)) {
      if (shape.size() < 2) continue;  // only the identity, which the builder drops
      for (int turn = 0; turn < 3; ++turn) {
        Axes permutation(shape.size());
        std::iota(permutation.begin(), permutation.end(), 0);
        if (turn == 0)
          std::ranges::reverse(permutation);
        else
          std::ranges::shuffle(permutation, cases.random());
        cases.add(
            shape_label(t, shape) + list_label(permutation), {cases.array(t, shape)},
            [&](const Vals& p, Sizes&) -> Vals { return {ops::transpose(p[0], permutation)}; });
      }
    }
  }
}

/// Every subset of the axes of small ranks, random ones of larger.
std::vector<Axes> axis_subsets(Cases& cases, int rank) {
  std::vector<Axes> r;
  const std::int64_t all = std::int64_t{1} << rank;
  for (std::int64_t i = 1; i < std::min<std::int64_t>(all, 8); ++i) {
    const std::int64_t bits = all <= 8 ? i : i == 1 ? all - 1 : cases.integer(1, all - 1);
    Axes axes;
    for (int a = 0; a < rank; ++a) {
      if (bits >> a & 1) axes.push_back(a);
    }
    if (std::ranges::find(r, axes) == r.end()) r.push_back(std::move(axes));
  }
  return r;
}

void reductions(Cases& cases, const Row& row) {
  auto reduce = [&](const Vals& p, const Axes& axes) -> Vals {
    return ir::Builder::current().emit_all(*row.op, ir::make_attr(ops::ReduceAttrs{axes}), p);
  };
  bool first = true;
  for (DType t : dtypes()) {
    const std::vector<ir::Type> probe{ir::Type::get(t, {ir::Dim(2)})};
    if (!Cases::accepts(probe, [&](const Vals& p, Sizes&) { return reduce(p, {0}); })) continue;
    for (const Extents& shape : shapes(!first)) {
      for (const Axes& axes : axis_subsets(cases, static_cast<int>(shape.size()))) {
        cases.add(shape_label(t, shape) + list_label(axes), {cases.array(t, shape)},
                  [&](const Vals& p, Sizes&) { return reduce(p, axes); });
      }
    }
    first = false;
  }
}

namespace rows = ops::rows;
constexpr std::array kShapes{
    Row{&rows::BroadcastInDim, broadcasts},
    Row{&rows::Reshape, reshapes},
    Row{&rows::Transpose, transposes},
};
// Sums of small integers are exact, so that any order of summation gives the same bits.
constexpr std::array kReductions{
    Row{&rows::ReduceSum, reductions, Values::small},
    Row{&rows::ReduceMax, reductions},
    Row{&rows::ReduceMin, reductions},
    Row{&rows::ReduceProd, reductions, Values::small},
    Row{&rows::ReduceOr, reductions},
    Row{&rows::ReduceAnd, reductions},
};

}  // namespace

std::span<const Row> shape_rows() { return kShapes; }
std::span<const Row> reduction_rows() { return kReductions; }

}  // namespace tlaloc::runtime::conformance
