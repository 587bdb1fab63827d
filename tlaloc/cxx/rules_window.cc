// Windows over arrays: reduce_window, select_and_gather, select_and_scatter, convolution.
#include <algorithm>

#include "tlaloc/base/checked.h"
#include "tlaloc/cxx/identities.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/ops/conv.h"
#include "tlaloc/ops/reduce_window.h"

namespace tlaloc::cxx {
namespace {

using ir::Dim;
using ir::Type;
namespace rows = ops::rows;

/// One axis of windows: position p of a window and w inside it read element (p * stride + w *
/// dilation - low) / base, if that divides and lies in the array.
struct Axis {
  Dim n, windows, size;
  std::int64_t stride = 1, dilation = 1, base = 1;
  Dim low = 0;

  /// The element; adds to `inside` what must hold for it to exist.
  Index source(Lowering& l, const Index& p, const Index& w, ExprRef& inside) const {
    auto also = [&](ExprRef test) { inside = inside ? logical_and(inside, test) : test; };
    const ExprRef moved = position_add(position_multiply(p.expr, integer(stride)),
                                       position_multiply(w.expr, integer(dilation)));
    ExprRef at = position_subtract(moved, l.size(low));
    const bool above = l.proved_less_equal(low, Dim(0));
    const Dim last = (windows - 1) * Dim(stride) + (size - 1) * Dim(dilation) - low;
    const bool below = l.proved_less_equal(last, (n - 1) * Dim(base));
    if (!above || !below || base != 1) at = l.keep(at, DType::i64);
    if (!above) also(compare(">=", at, integer(0)));
    if (base != 1) {
      also(compare("==", infix(Level::multiplicative, "%", at, integer(base)), integer(0)));
      at = infix(Level::multiplicative, "/", at, integer(base));
    }
    if (!below) also(compare("<", at, l.size(n)));
    return {at, Range::below(n)};
  }
};

void if_inside(Lowering& l, const ExprRef& inside, const std::function<void()>& then) {
  if (!inside) return then();
  Stmt test{Stmt::Kind::branch};
  test.value = inside;
  test.body = l.block(then);
  l.emit(std::move(test));
}
/// The element positions of one window in row-major order.
void each_element(Lowering& l, const std::vector<Axis>& axes, const Indices& window,
                  const std::function<void(const Indices&)>& visit) {
  std::vector<Dim> sizes;
  for (const Axis& a : axes) sizes.push_back(a.size);
  l.for_each(Type::get(DType::i64, sizes), [&](const Indices& w) {
    ExprRef inside;
    Indices at;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      at.push_back(axes[k].source(l, window[k], w[k], inside));
    }
    if_inside(l, inside, [&] { visit(at); });
  });
}
std::vector<Axis> axes_of(const NodeCall& c, const ops::Window& w, Type x, Type windows) {
  std::vector<Axis> axes;
  for (int k = 0; k < x.rank(); ++k) {
    const std::size_t i = usize(k);
    axes.push_back({x.dim(k), windows.dim(k), w.size[i].substitute(c.dims), w.strides[i],
                    w.window_dilation[i], w.base_dilation[i], w.low[i].substitute(c.dims)});
  }
  return axes;
}

// ---- reduce_window ----

struct Fold {
  const ir::OpDef& combine;
  ir::Identity start;
  const char* name;
};
Fold fold_of(ops::Monoid m) {
  switch (m) {
    case ops::Monoid::prod:
      return {rows::Mul, ir::Identity::one, "product"};
    case ops::Monoid::max:
      return {rows::Max, ir::Identity::lowest, "largest"};
    case ops::Monoid::min:
      return {rows::Min, ir::Identity::highest, "smallest"};
    case ops::Monoid::all:
      return {rows::And, ir::Identity::all_ones, "all"};
    case ops::Monoid::any:
      return {rows::Or, ir::Identity::zero, "any"};
    default:
      return {rows::Add, ir::Identity::zero, "sum"};
  }
}

void lower_reduce_window(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::ReduceWindowAttrs>();
  const Value& x = c.in[0];
  const Type type = c.types[0];
  const DType dtype = type.dtype();
  const Fold fold = fold_of(a.monoid);
  auto reduced = [&](const Indices& window) {
    const VarId acc = l.declare(Type::scalar(dtype), fold.name, NameRank::derived);
    l.assign(acc, l.constant(identity(dtype, fold.start)).scalar);
    each_element(l, axes_of(c, a.window, x.type, type), window, [&](const Indices& at) {
      l.assign(acc, l.combine(fold.combine, c.node, dtype, variable(acc), l.element(x, at)));
    });
    return variable(acc);
  };
  c.out.push_back(l.written(type, c.node.origin(), reduced));
}

// ---- select_and_gather, select_and_scatter ----

/// The position of the winner of a window in the vector `x`, or -1.
VarId winner(Lowering& l, const std::vector<Axis>& axes, const Indices& window, bool largest,
             Type type, VarId x) {
  const VarId best = l.declare(Type::scalar(DType::i64), "best", NameRank::derived);
  l.assign(best, integer(-1));
  each_element(l, axes, window, [&](const Indices& at) {
    const ExprRef here = l.keep(l.position(type, at).expr, DType::i64);
    const ExprRef v = index(variable(x), here), b = index(variable(x), variable(best));
    ExprRef wins = compare(largest ? ">" : "<", v, b);
    if (is_float(type.dtype())) {
      // NaN wins, the last one of several.
      wins = infix(Level::logical_or, "||", call("std::isnan", {v}),
                   logical_and(logical_not(call("std::isnan", {b})), wins));
    }
    if_inside(l, infix(Level::logical_or, "||", compare("<", variable(best), integer(0)), wins),
              [&] { l.assign(best, here); });
  });
  return best;
}

void lower_select_and_gather(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::SelectWindowAttrs>();
  const Value &values = c.in[0], &x = c.in[1];
  const Type type = c.types[0];
  const VarId from = l.materialize(values), order = l.materialize(x);
  auto selected = [&](const Indices& window) {
    const VarId best =
        winner(l, axes_of(c, a.window, x.type, type), window, a.largest, x.type, order);
    return ternary(compare("<", variable(best), integer(0)),
                   l.constant(identity(type.dtype(), ir::Identity::zero)).scalar,
                   index(variable(from), variable(best)));
  };
  c.out.push_back(l.written(type, c.node.origin(), selected));
}

void lower_select_and_scatter(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::SelectWindowAttrs>();
  const Value values = c.in[0], x = c.in[1];
  const Type type = c.types[0];
  const VarId order = l.materialize(x);
  const VarId y = l.new_vector(type, c.node.origin());
  const auto axes = axes_of(c, a.window, x.type, values.type);
  l.for_each(values.type, [&](const Indices& window) {
    const VarId best = winner(l, axes, window, a.largest, x.type, order);
    if_inside(l, compare(">=", variable(best), integer(0)), [&] {
      const ExprRef sum = index(variable(y), variable(best));
      l.store(y, variable(best),
              l.combine(rows::Add, c.node, type.dtype(), sum, l.element(values, window)));
    });
  });
  c.out.push_back(l.in_vector(type, y));
}

// ---- convolution ----

/// i / per, where `per` counts the features of one group: 0 if there is one group.
Index group_of(Lowering& l, const Index& i, Dim features, Dim groups) {
  if (groups == Dim(1)) return {integer(0), Range::exactly(std::int64_t{0})};
  const ExprRef per = l.size(floordiv(features, groups));
  if (is_literal(*per) && per->integer == 1) return i;
  return {infix(Level::multiplicative, "/", i.expr, per), Range::below(groups)};
}

void lower_convolution(Lowering& l, NodeCall& c) {
  const auto& a = c.node.as<ops::ConvAttrs>();
  const ops::ConvDims& d = a.dims;
  const Value x = c.in[0], kernel = c.in[1];
  const Type type = c.types[0];
  const DType dtype = type.dtype();
  auto dim = [](Type t, std::int64_t axis) { return t.dim(static_cast<int>(axis)); };
  const Dim features = dim(kernel.type, d.rhs_in), out_features = dim(type, d.out_feature);
  const Dim batch = dim(type, d.out_batch);
  const Dim feature_groups = a.feature_groups.substitute(c.dims);
  const Dim batch_groups = a.batch_groups.substitute(c.dims);
  std::vector<Axis> axes;
  for (std::size_t i = 0; i < a.strides.size(); ++i) {
    axes.push_back({dim(x.type, d.lhs_spatial[i]), dim(type, d.out_spatial[i]),
                    dim(kernel.type, d.rhs_spatial[i]), a.strides[i], a.rhs_dilation[i],
                    a.lhs_dilation[i], a.low[i].substitute(c.dims)});
  }
  std::vector<Dim> sizes;
  for (const Axis& axis : axes) sizes.push_back(axis.size);

  auto product = [&](const Indices& to) {
    const Index& feature = to[usize(d.out_feature)];
    const Index group = group_of(l, feature, out_features, feature_groups);
    const Index batch_group = group_of(l, feature, out_features, batch_groups);
    const VarId sum = l.declare(Type::scalar(dtype), "sum", NameRank::derived);
    l.assign(sum, l.constant(identity(dtype, ir::Identity::zero)).scalar);
    l.for_each(Type::get(DType::i64, sizes), [&](const Indices& w) {
      Indices left(usize(x.type.rank())), right(usize(kernel.type.rank()));
      ExprRef inside;
      for (std::size_t i = 0; i < axes.size(); ++i) {
        left[usize(d.lhs_spatial[i])] =
            axes[i].source(l, to[usize(d.out_spatial[i])], w[i], inside);
        right[usize(d.rhs_spatial[i])] =
            a.reversed[i] ? Index{position_subtract(l.size(axes[i].size - 1), w[i].expr),
                                  Range::below(axes[i].size)}
                          : w[i];
      }
      left[usize(d.lhs_batch)] = {position_add(to[usize(d.out_batch)].expr,
                                               position_multiply(batch_group.expr, l.size(batch))),
                                  Range::below(dim(x.type, d.lhs_batch))};
      right[usize(d.rhs_out)] = feature;
      if_inside(l, inside, [&] {
        l.for_each(Type::get(DType::i64, {features}), [&](const Indices& f) {
          left[usize(d.lhs_feature)] = {
              position_add(position_multiply(group.expr, l.size(features)), f[0].expr),
              Range::below(dim(x.type, d.lhs_feature))};
          right[usize(d.rhs_in)] = f[0];
          const ExprRef term =
              l.combine(rows::Mul, c.node, dtype, l.element(x, left), l.element(kernel, right));
          l.assign(sum, l.combine(rows::Add, c.node, dtype, variable(sum), term));
        });
      });
    });
    return variable(sum);
  };
  c.out.push_back(l.written(type, c.node.origin(), product));
}

const Rule kRules[] = {
    {.op = &rows::ReduceWindow, .node = lower_reduce_window},
    {.op = &rows::SelectAndGather, .node = lower_select_and_gather},
    {.op = &rows::SelectAndScatter, .node = lower_select_and_scatter},
    {.op = &rows::Convolution, .node = lower_convolution},
};

}  // namespace

std::span<const Rule> window_rules() { return kRules; }

}  // namespace tlaloc::cxx
