// Reductions along axes and over windows.
#include <cmath>

#include "tlaloc/ops/constants.h"
#include "tlaloc/ops/reduce_general.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_reduce.h"
#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo::raising {

const ir::OpDef* single_op(const ir::Graph& g) {
  if (g.param_count() != 2 || g.node_count() != 1 || g.results().size() != 1 ||
      g.is_param(g.results()[0])) {
    return nullptr;
  }
  const ir::Node n = g.node(0);
  if (n.operands().size() != 2 || n.operand(0) + n.operand(1) != 1) return nullptr;
  return &n.op();
}

namespace {

using ir::Dim;
using ir::Val;
using ir::Vals;
using ops::operator<, ops::operator>, ops::operator+;
using ops::AxisList;
using ops::Monoid;

struct Fold {
  const ir::OpDef& combine;
  Monoid monoid;
  Val (*reduce)(Val, std::span<const std::int64_t>);
};
const Fold* find_fold(const ir::OpDef* op) {
  static const Fold folds[] = {{ops::rows::Add, Monoid::sum, ops::reduce_sum},
                               {ops::rows::Mul, Monoid::prod, ops::reduce_prod},
                               {ops::rows::Max, Monoid::max, ops::reduce_max},
                               {ops::rows::Min, Monoid::min, ops::reduce_min},
                               {ops::rows::And, Monoid::all, ops::reduce_and},
                               {ops::rows::Or, Monoid::any, ops::reduce_or}};
  for (const Fold& f : folds) {
    if (op == &f.combine) return &f;
  }
  return nullptr;
}
/// The scalar constant that x is, or that is broadcast to it.
std::optional<HostArray> scalar_constant(Val x) {
  ir::Builder& b = ir::Builder::of(x);
  while (b.op_of(x) == &ops::rows::BroadcastInDim) x = b.operand_of(x, 0);
  if (b.op_of(x) != &ops::rows::Constant || x.rank() != 0) return {};
  return ir::attr_as<ops::ConstantAttrs>(b.attr_of(x)).value.value;
}
bool is_negative_zero(Val start) {
  const auto value = scalar_constant(start);
  return value && is_float(start.dtype()) && value->element(0) == 0 &&
         std::signbit(value->element(0));
}
/// x combined with it is x, for every x.
bool is_identity(const Fold& f, Val start) {
  const auto value = scalar_constant(start);
  if (!value) return false;
  return dispatch(start.dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    using L = std::numeric_limits<C>;
    constexpr bool kFloat = std::is_floating_point_v<C>;
    const C x = static_cast<C>(value->as<T>()[0]);
    switch (f.monoid) {
      case Monoid::sum:  // from -0 a sum of nothing but -0 is -0, elsewhere 0
        if constexpr (kFloat) {
          if (std::signbit(x)) return false;
        }
        return x == C{};
      case Monoid::any:
        return x == C{};
      case Monoid::prod:
        return x == C(1);
      case Monoid::max:
        return x == (kFloat ? -L::infinity() : L::lowest());
      case Monoid::min:
        return x == (kFloat ? L::infinity() : L::max());
      default:
        if constexpr (kFloat) {
          return false;
        } else {
          return std::is_same_v<T, bool> ? x == C(1) : x == static_cast<C>(~std::uint64_t{0});
        }
    }
  });
}

/// The positions of extremes, as JAX reduces (value, position) pairs: whether largest.
std::optional<bool> position_reducer(const ir::Graph& g, DType value, DType position) {
  for (const bool largest : {true, false}) {
    ir::Builder b;
    const Val x = b.param(ir::Type::scalar(value)), i = b.param(ir::Type::scalar(position)),
              y = b.param(ir::Type::scalar(value)), j = b.param(ir::Type::scalar(position));
    using ops::Comparison;
    const Val wins = ops::compare(largest ? Comparison::gt : Comparison::lt, x, y);
    const Val takes =
        is_float(value) ? ops::logical_or(wins, ops::compare(Comparison::ne, x, x)) : wins;
    const Val tie = ops::logical_and(ops::compare(Comparison::eq, x, y), i < j);
    const Vals out = {ops::select(takes, x, y), ops::select(ops::logical_or(takes, tie), i, j)};
    if (same_scalar_graph(g, *b.build(out))) return largest;
  }
  return {};
}
bool is_iota(Val x, std::int64_t axis) {
  ir::Builder& b = ir::Builder::of(x);
  return b.op_of(x) == &ops::rows::Iota &&
         b.attr_of(x)->equals(*ir::make_attr(ops::IotaAttrs{x.type(), axis}));
}

/// Of arrays and as many starts: the accumulators, then the elements.
std::vector<DType> reducer_params(const Site& s) {
  std::vector<DType> r;
  for (ir::Val x : s.in()) r.push_back(x.dtype());
  return r;
}

Vals reduce(const Site& s) {
  const std::size_t n = s.count() / 2;
  if (n == 0 || s.count() % 2) s.fail("it takes arrays and as many starts");
  s.expect_regions(1);
  AxisList axes = s.integers({"dimensions"});
  std::ranges::sort(axes);
  const ir::GraphRef reducer = s.importer().scalar_graph(s, s.op().regions[0], reducer_params(s));
  const Vals xs(s.in().begin(), s.in().begin() + static_cast<std::ptrdiff_t>(n)),
      starts(s.in().begin() + static_cast<std::ptrdiff_t>(n), s.in().end());
  if (const Fold* f = n == 1 ? find_fold(single_op(*reducer)) : nullptr) {
    if (f->monoid == Monoid::sum && is_negative_zero(starts[0])) {
      return ops::reduce(xs, starts, axes, reducer);
    }
    const Val y = f->reduce(xs[0], axes);
    if (is_identity(*f, starts[0])) return {y};
    const Val start = ops::broadcast_in_dim(starts[0], y.shape(), {});
    return {ir::Builder::current().emit(f->combine, {}, {start, y})};
  }
  // Of an empty axis no position is the answer, but the start.
  if (n == 2 && axes.size() == 1 && is_integer(xs[1].dtype()) && is_iota(xs[1], axes[0]) &&
      xs[0].dim(static_cast<int>(axes[0])) != Dim(0)) {
    const auto largest = position_reducer(*reducer, xs[0].dtype(), xs[1].dtype());
    // From what never wins; of nothing but that, the first position is the answer in any case.
    const Fold& f = *find_fold(largest && *largest ? &ops::rows::Max : &ops::rows::Min);
    if (largest && is_identity(f, starts[0]) && ops::scalar_value(starts[1]) == 0.0) {
      const int axis = static_cast<int>(axes[0]);
      return {f.reduce(xs[0], axes), *largest ? ops::argmax(xs[0], axis, xs[1].dtype())
                                              : ops::argmin(xs[0], axis, xs[1].dtype())};
    }
  }
  return ops::reduce(xs, starts, axes, reducer);
}

// ---- windows ----

ops::Window window(const Site& s, int rank) {
  const auto n = usize(rank);
  const AxisList ones(n, 1);
  ops::Window w;
  for (std::int64_t k : s.integers({"window_dimensions"})) w.size.emplace_back(k);
  w.strides = s.integers_or({"window_strides"}, ones);
  w.base_dilation = s.integers_or({"base_dilations"}, ones);
  w.window_dilation = s.integers_or({"window_dilations"}, ones);
  const AxisList padding = s.integers_or({"padding"}, AxisList(2 * n, 0));
  if (w.size.size() != n || w.strides.size() != n || w.base_dilation.size() != n ||
      w.window_dilation.size() != n || padding.size() != 2 * n) {
    s.fail("its window is of another rank");
  }
  for (const AxisList* steps : {&w.strides, &w.base_dilation, &w.window_dilation}) {
    if (std::ranges::any_of(*steps, [](std::int64_t k) { return k < 1; })) {
      s.fail("strides and dilations are at least 1");
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    w.low.emplace_back(padding[2 * i]);
    w.high.emplace_back(padding[2 * i + 1]);
  }
  return w;
}

/// Windows that end, or begin, at each element and reach to the end of the axis.
struct RunningAxis {
  int axis;
  bool reverse;
};
std::optional<RunningAxis> running_axis(const ops::Window& w, ir::Type x) {
  std::optional<RunningAxis> found;
  for (int i = 0; i < x.rank(); ++i) {
    const auto k = usize(i);
    if (w.strides[k] != 1 || w.base_dilation[k] != 1 || w.window_dilation[k] != 1) return {};
    const Dim n = x.dim(i), zero = 0;
    if (w.size[k] == Dim(1) && w.low[k] == zero && w.high[k] == zero) continue;
    if (found || w.size[k] != n) return {};
    if (w.low[k] == n - 1 && w.high[k] == zero) {
      found = RunningAxis{i, false};
    } else if (w.low[k] == zero && w.high[k] == n - 1) {
      found = RunningAxis{i, true};
    } else {
      return {};
    }
  }
  return found;
}

Vals windowed(const Vals& xs, const Vals& starts, const ops::Window& w,
              const ir::GraphRef& reducer) {
  const Fold* f = xs.size() == 1 ? find_fold(single_op(*reducer)) : nullptr;
  if (!f || !is_identity(*f, starts[0])) return ops::reduce_window(xs, starts, w, reducer);
  if (const auto running = running_axis(w, xs[0].type())) {
    const ops::Running r{.reverse = running->reverse};
    switch (f->monoid) {
      case Monoid::sum:
        return {ops::cumsum(xs[0], running->axis, r)};
      case Monoid::prod:
        return {ops::cumprod(xs[0], running->axis, r)};
      case Monoid::max:
        return {ops::cummax(xs[0], running->axis, r)};
      case Monoid::min:
        return {ops::cummin(xs[0], running->axis, r)};
      default:
        break;
    }
  }
  return {ops::reduce_window(xs[0], f->monoid, w)};
}
Vals reduce_window(const Site& s) {
  const std::size_t n = s.count() / 2;
  if (n == 0 || s.count() % 2) s.fail("it takes arrays and as many starts");
  s.expect_regions(1);
  const ir::GraphRef reducer = s.importer().scalar_graph(s, s.op().regions[0], reducer_params(s));
  return windowed({s.in().begin(), s.in().begin() + static_cast<std::ptrdiff_t>(n)},
                  {s.in().begin() + static_cast<std::ptrdiff_t>(n), s.in().end()},
                  window(s, s.in(0).rank()), reducer);
}

/// select_and_scatter of `largest` or smallest elements whose values are added up.
Vals select_and_scatter(const Site& s) {
  s.expect_operands(3);
  s.expect_regions(2);
  const Val x = s.in(0), values = s.in(1), start = s.in(2);
  const std::vector<DType> two(2, x.dtype());
  const ir::GraphRef select = s.importer().scalar_graph(s, s.op().regions[0], two),
                     scatter = s.importer().scalar_graph(s, s.op().regions[1], two);
  const ir::OpDef* combine = single_op(*scatter);
  std::optional<bool> largest;
  for (const bool l : {true, false}) {
    ir::Builder b;
    const ir::Type t = ir::Type::scalar(x.dtype());
    const Val p = b.param(t), q = b.param(t);
    const Vals out = {ops::compare(l ? ops::Comparison::ge : ops::Comparison::le, p, q)};
    if (same_scalar_graph(*select, *b.build(out))) largest = l;
  }
  if (!largest || combine != &ops::rows::Add) {
    s.unsupported("it is supported where it selects by GE or LE and adds");
  }
  const ops::Window w = window(s, x.rank());
  const Val y = ops::select_and_scatter(values, x, w, *largest);
  if (ops::scalar_value(start) == 0.0) return {y};
  return {y + ops::broadcast_in_dim(start, y.shape(), {})};
}

}  // namespace

/// JAX's custom call: an array, its start, the window's sizes, strides, dilations and padding.
Vals dynamic_reduce_window(const Site& s) {
  s.expect_operands(7);
  const auto n = usize(s.in(0).rank());
  auto numbers = [&](std::size_t k) {
    ops::AxisList r;
    for (Dim d : s.sizes(k)) {
      if (!d.is_constant()) s.unsupported("its strides and dilations are no numbers");
      r.push_back(d.constant());
    }
    return r;
  };
  ops::Window w;
  w.size = s.sizes(2);
  w.strides = numbers(3);
  w.base_dilation = numbers(4);
  w.window_dilation = numbers(5);
  const std::vector<Dim> padding = s.sizes(6);
  if (w.size.size() != n || w.strides.size() != n || w.base_dilation.size() != n ||
      w.window_dilation.size() != n || padding.size() != 2 * n) {
    s.fail("its window is of another rank");
  }
  for (std::size_t i = 0; i < n; ++i) {
    w.low.push_back(padding[2 * i]);
    w.high.push_back(padding[2 * i + 1]);
  }
  return windowed({s.in(0)}, {s.in(1)}, w, s.importer().called_computation(s));
}

void add_reduce(RaiseTable& t) {
  t["stablehlo.reduce"] = reduce;
  t["stablehlo.reduce_window"] = reduce_window;
  t["stablehlo.select_and_scatter"] = select_and_scatter;
}

}  // namespace tlaloc::stablehlo::raising
