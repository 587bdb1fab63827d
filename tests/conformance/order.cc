// Cases of ops that work along axes and over windows: positions of extremes, running reductions,
// reducers, orders.
#include <array>

#include "tests/conformance/cases.h"
#include "tlaloc/ops/arg_reduce.h"
#include "tlaloc/ops/cumulative.h"
#include "tlaloc/ops/reduce_window.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::runtime::conformance {
namespace {

using ir::Vals;

/// A graph on scalars of these types.
template <class F>
ir::GraphRef on_scalars(const std::vector<DType>& types, const F& f) {
  ir::Builder b;
  Vals params;
  for (DType t : types) params.push_back(b.param(ir::Type::scalar(t)));
  return b.build(Vals{f(params)});
}

/// `make(params, axis)` along every axis of every shape, over the element types it accepts.
void along_axes(Cases& cases, const std::string& label, bool empty_axes,
                const std::function<Vals(const Vals&, int)>& make) {
  bool first = true;
  for (DType t : dtypes()) {
    const std::vector<ir::Type> probe{ir::Type::get(t, {ir::Dim(2)})};
    if (!Cases::accepts(probe, [&](const Vals& p, Sizes&) { return make(p, 0); })) continue;
    for (const Extents& shape : shapes(!first)) {
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
        if (shape[static_cast<std::size_t>(axis)] == 0 && !empty_axes) continue;
        cases.add(label + "axis" + std::to_string(axis) + "/" + shape_label(t, shape),
                  {cases.array(t, shape)}, [&](const Vals& p, Sizes&) { return make(p, axis); });
      }
    }
    first = false;
  }
}

void positions(Cases& cases, const Row& row) {
  for (DType t : {DType::i32, DType::i64}) {
    along_axes(cases, std::string(name(t)) + "/", false, [&](const Vals& p, int axis) {
      return ir::Builder::current().emit_all(*row.op, ir::make_attr(ops::ArgReduceAttrs{axis, t}),
                                             p);
    });
  }
}
void running(Cases& cases, const Row& row) {
  for (int mode = 0; mode < 4; ++mode) {
    const bool reverse = mode & 1, exclusive = mode & 2;
    const std::string label =
        (reverse ? "reverse/" : "") + std::string(exclusive ? "exclusive/" : "");
    along_axes(cases, label, true, [&](const Vals& p, int axis) {
      return ir::Builder::current().emit_all(
          *row.op, ir::make_attr(ops::CumulativeAttrs{axis, reverse, exclusive}), p);
    });
  }
}

void sorts(Cases& cases, const Row&) {
  for (bool descending : {false, true}) {
    along_axes(cases, descending ? "descending/" : "", true, [&](const Vals& p, int axis) -> Vals {
      const ops::Sorted s = ops::sort(p[0], axis, descending);
      return {s.values, s.positions};
    });
  }
  for (const Extents& shape : {Extents{0}, Extents{67}, Extents{5, 7}}) {
    const std::vector<HostArray> keys{cases.array(DType::i8, shape, Values::small),
                                      cases.array(DType::f32, shape),
                                      cases.array(DType::f64, shape)};
    cases.add("two keys/" + list_label(shape), keys,
              [](const Vals& p, Sizes&) { return ops::sort(p, 0, 2); });
    cases.add("comparator/" + list_label(shape), keys, [](const Vals& p, Sizes&) {
      std::vector<DType> pairs;
      for (ir::Val v : p) pairs.insert(pairs.end(), 2, v.dtype());
      return ops::sort(p, 0, on_scalars(pairs, [](const Vals& q) {
                         return ops::compare(ops::Comparison::gt, q[0], q[1]);
                       }));
    });
  }
}
void largest(Cases& cases, const Row&) {
  for (DType t : dtypes()) {
    for (const Extents& shape : {Extents{4}, Extents{33}, Extents{3, 5}, Extents{0, 4}}) {
      for (std::int64_t k : {0, 1, 4}) {
        cases.add(std::to_string(k) + "/" + shape_label(t, shape), {cases.array(t, shape)},
                  [&](const Vals& p, Sizes&) -> Vals {
                    const ops::Sorted s = ops::top_k(p[0], k);
                    return {s.values, s.positions};
                  });
      }
    }
  }
}

/// acc * 2 + x, which depends on the order.
void reducers(Cases& cases, const Row&) {
  for (DType t : {DType::f32, DType::bf16, DType::i8, DType::u64}) {
    for (const Extents& shape : {Extents{0}, Extents{7}, Extents{3, 5}, Extents{2, 3, 4}}) {
      for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(shape.size()); ++axis) {
        cases.add("axis" + std::to_string(axis) + "/" + shape_label(t, shape),
                  {cases.array(t, shape), cases.array(t, {})}, [&](const Vals& p, Sizes&) {
                    const auto doubled = on_scalars({t, t}, [&](const Vals& q) {
                      return ops::add(ops::mul(ops::scalar(2, t), q[0]), q[1]);
                    });
                    return ops::reduce(std::array{p[0]}, std::array{p[1]}, std::span(&axis, 1),
                                       doubled);
                  });
      }
    }
  }
}

struct WindowCase {
  Extents shape;
  ops::Window window;
};
std::vector<WindowCase> window_cases() {
  return {{{9}, {{3}, {1}, {0}, {0}, {1}, {1}}},
          {{9}, {{3}, {2}, {1}, {2}, {1}, {2}}},
          {{7}, {{2}, {3}, {-1}, {-2}, {1}, {1}}},
          {{5}, {{3}, {2}, {2}, {1}, {3}, {2}}},
          {{5}, {{4}, {1}, {2}, {1}, {4}, {2}}},
          {{2}, {{4}, {1}, {0}, {1}, {1}, {1}}},
          {{0}, {{2}, {1}, {1}, {2}, {1}, {1}}},
          {{3, 8, 7}, {{1, 3, 2}, {1, 2, 1}, {0, 1, 0}, {0, 1, 1}, {1, 1, 1}, {1, 1, 2}}},
          // Pooling of images with channels: 19 windows side by side, some over padding.
          {{2, 5, 4, 19},
           {{1, 3, 2, 1}, {1, 2, 2, 1}, {0, 1, 0, 0}, {0, 1, 1, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}}},
          {{}, {{}, {}, {}, {}, {}, {}}}};
}
void window_reductions(Cases& cases, const Row&) {
  using ops::Monoid;
  for (Monoid m : {Monoid::sum, Monoid::prod, Monoid::max, Monoid::min, Monoid::all, Monoid::any}) {
    const std::string label(ops::enum_names(m)[static_cast<std::size_t>(m)]);
    for (const WindowCase& w : window_cases()) {
      auto make = [&](const Vals& p) -> Vals { return {ops::reduce_window(p[0], m, w.window)}; };
      for (DType t : dtypes()) {
        const std::vector<ir::Type> probe{
            ir::Type::get(t, std::vector<ir::Dim>(w.shape.size(), 9))};
        if (!Cases::accepts(probe, [&](const Vals& p, Sizes&) { return make(p); })) continue;
        cases.add(label + "/" + shape_label(t, w.shape), {cases.array(t, w.shape)},
                  [&](const Vals& p, Sizes&) { return make(p); });
      }
    }
  }
}
void window_selections(Cases& cases, const Row& row) {
  const bool gather = row.op == &ops::rows::SelectAndGather;
  for (const WindowCase& w : window_cases()) {
    for (DType t : {DType::f32, DType::bf16, DType::i8, DType::f64}) {
      for (bool most : {true, false}) {
        std::vector<HostArray> inputs{cases.array(t, w.shape), cases.array(t, w.shape)};
        // Values per window come from the windows, so that their number is right.
        cases.add(std::string(most ? "largest/" : "smallest/") + shape_label(t, w.shape), inputs,
                  [&](const Vals& p, Sizes&) -> Vals {
                    const ir::Val y = ops::select_and_gather(p[0], p[1], w.window, most);
                    return {gather ? y : ops::select_and_scatter(y, p[1], w.window, most)};
                  });
      }
    }
  }
}

namespace rows = ops::rows;
constexpr std::array kOrders{
    Row{&rows::ArgMax, positions},
    Row{&rows::ArgMin, positions},
    Row{&rows::CumSum, running, Values::small},
    Row{&rows::CumProd, running, Values::small},
    Row{&rows::CumMax, running},
    Row{&rows::CumMin, running},
    // Each step may be off by a few units of the last place.
    Row{&rows::CumLogSumExp, running, Values::small, 64},
    Row{&rows::Sort, sorts},
    Row{&rows::TopK, largest},
    Row{&rows::Reduce, reducers, Values::small},
    Row{&rows::ReduceWindow, window_reductions, Values::small},
    Row{&rows::SelectAndGather, window_selections},
    Row{&rows::SelectAndScatter, window_selections, Values::small},
};

}  // namespace

std::span<const Row> order_rows() { return kOrders; }

}  // namespace tlaloc::runtime::conformance
