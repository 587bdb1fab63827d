#include "tlaloc/ops/reduce_general.h"

#include <algorithm>
#include <limits>

#include "tlaloc/ops/axes.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/reduce.h"
#include "tlaloc/ops/scalar_graph.h"
#include "tlaloc/ops/strided.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::ops {
namespace {

/// The reduced axes as one, in front.
Val reduced_in_front(Val x, const AxisList& axes) {
  const Val merged = merge_axes(x, axes);
  AxisList last_first = axis_range(0, merged.rank());
  std::ranges::rotate(last_first, last_first.end() - 1);
  return transpose(merged, last_first);
}
Val broadcast_start(Val start, Type result) {
  return start.rank() == result.rank() ? start : broadcast_in_dim(start, result.shape(), {});
}

}  // namespace

void Reduce::infer(InferContext& c) {
  const auto& a = c.as<FoldAttrs>();
  const std::size_t n = c.in.size() / 2;
  if (n == 0 || c.in.size() % 2) c.fail("TL-ARITY-001", "takes arrays and as many start values");
  const Type x = c.in[0];
  if (!are_axes(a.axes, x.rank()) || !increasing(a.axes)) {
    c.fail("TL-AXIS-001", "reduced axes must be distinct, increasing and within the rank");
  }
  std::vector<Dim> shape;
  for (std::int64_t axis : other_axes(x.rank(), a.axes)) {
    shape.push_back(x.dim(static_cast<int>(axis)));
  }
  std::vector<DType> dtypes;
  for (std::size_t k = 0; k < n; ++k) {
    const Type y = c.in[k], start = c.in[n + k];
    if (y.encoding()) c.fail(kDTypeError, "does not accept quantized values", "dequantize first");
    if (start.dtype() != y.dtype()) {
      c.fail("TL-DTYPE-001", "a start value has another dtype", "convert it");
    }
    if (y.rank() != x.rank()) c.fail("TL-RANK-001", "the arrays' ranks differ");
    for (int i = 0; i < x.rank(); ++i) {
      c.require_equal(y.dim(i), x.dim(i), "axis " + std::to_string(i));
    }
    dtypes.push_back(y.dtype());
    c.out.push_back(Type::get(y.dtype(), shape));
    if (start.rank() == 0) continue;
    if (start.rank() != static_cast<int>(shape.size())) {
      c.fail("TL-RANK-001", "a start value has rank 0 or the result's rank");
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
      c.require_equal(start.dim(static_cast<int>(i)), shape[i],
                      "axis " + std::to_string(i) + " of a start value");
    }
  }
  std::vector<DType> params = dtypes;
  params.insert(params.end(), dtypes.begin(), dtypes.end());
  check_scalar_graph(c, a.reducer, params, dtypes);
}

void Reduce::eval(EvalContext& c) {
  const auto& a = c.as<FoldAttrs>();
  const std::size_t n = c.in.size() / 2;
  const Extents& in_extents = c.in[0].extents();
  const Extents strides = row_major_strides(in_extents);
  Extents kept_step, inner_extents, inner_step;
  for (std::size_t i = 0; i < in_extents.size(); ++i) {
    const bool reduced = contains(a.axes, static_cast<std::int64_t>(i));
    if (!reduced) kept_step.push_back(strides[i]);
    if (reduced) inner_extents.push_back(in_extents[i]), inner_step.push_back(strides[i]);
  }
  std::vector<HostArray> acc;
  for (std::size_t k = 0; k < n; ++k) {
    const HostArray& start = c.in[n + k];
    acc.push_back(c.make(static_cast<int>(k)));
    const bool scalar = start.rank() == 0;
    gather_strided(
        start, 0, scalar ? Extents(acc[k].extents().size(), 0) : row_major_strides(start.extents()),
        acc[k]);
  }
  for_each_offset(inner_extents, 0, inner_step, [&](std::int64_t, std::int64_t at) {
    std::vector<HostArray> args = acc;
    for (std::size_t k = 0; k < n; ++k) {
      args.push_back(c.make(static_cast<int>(k)));
      gather_strided(c.in[k], at, kept_step, args.back());
    }
    acc = eval_scalar_graph(*a.reducer.graph, std::move(args));
  });
  c.out = std::move(acc);
}

Vals reduce_by_scan(const FoldAttrs& attrs, const Vals& in) {
  const auto n = static_cast<std::ptrdiff_t>(in.size() / 2);
  std::vector<Dim> shape;
  for (std::int64_t axis : other_axes(in[0].rank(), attrs.axes)) {
    shape.push_back(in[0].dim(static_cast<int>(axis)));
  }
  Vals init, xs;
  for (auto x = in.begin(); x != in.begin() + n; ++x) {
    xs.push_back(reduced_in_front(*x, attrs.axes));
    init.push_back(broadcast_start(x[n], Type::get(x->dtype(), shape)));
  }
  return scan(init, xs, [&](const Vals& v) { return emit_scalar_graph(*attrs.reducer.graph, v); })
      .carries;
}

std::optional<Monoid> known_monoid(const ir::Graph& g, Val start) {
  const DType t = start.dtype();
  if (g.param_count() != 2 || g.node_count() != 1 || g.is_param(g.results()[0])) return {};
  const ir::Node n = g.node(0);
  const bool both = n.operands().size() == 2 && n.operand(0) + n.operand(1) == 1;
  if (!both) return {};
  struct Known {
    const ir::OpDef& op;
    Monoid monoid;
    double start;
    bool exact;  // rounding once instead of at each step changes nothing
  };
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const bool steps = byte_size(t) >= 4 || !is_float(t);
  const bool fl = is_float(t);
  const Known known[] = {
      {rows::Add, Monoid::sum, 0, steps},
      {rows::Mul, Monoid::prod, 1, steps},
      {rows::Max, Monoid::max, -kInf, fl},
      {rows::Min, Monoid::min, kInf, fl},
      {rows::And, Monoid::all, 1, t == DType::boolean},
      {rows::Or, Monoid::any, 0, true},
  };
  for (const Known& k : known) {
    if (&n.op() == &k.op && k.exact && is_scalar_value(start, k.start)) return k.monoid;
  }
  return {};
}

Val Reduce::simplify(const Call& c) {
  const auto& a = c.as<FoldAttrs>();
  if (c.in.size() != 2 || a.axes.empty()) return {};
  const std::optional<Monoid> monoid = known_monoid(*a.reducer.graph, c.in[1]);
  if (!monoid) return {};
  const ir::OpDef* reductions[] = {&rows::ReduceSum, &rows::ReduceProd, &rows::ReduceMax,
                                   &rows::ReduceMin, &rows::ReduceAnd,  &rows::ReduceOr};
  return ir::Builder::current().emit(*reductions[static_cast<std::size_t>(*monoid)],
                                     ir::make_attr(ReduceAttrs{a.axes}), {c.in[0]});
}

void Reduce::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const auto& a = c.as<FoldAttrs>();
  const std::size_t n = c.in.size() / 2;
  const ir::Graph& g = *a.reducer.graph;
  // Carries: acc…, then the tangents of the floating ones. xs: x…, then the tangents that exist.
  Vals init, xs;
  for (std::size_t k = 0; k < n; ++k) init.push_back(broadcast_start(c.in[n + k], c.out_types[k]));
  std::vector<std::size_t> floating, moving;
  for (std::size_t k = 0; k < n; ++k) {
    xs.push_back(reduced_in_front(c.in[k], a.axes));
    if (is_differentiable(c.in_types[k].dtype())) floating.push_back(k);
    if (dx[k]) moving.push_back(k);
  }
  for (std::size_t k : floating) {
    const Val d = dx[n + k];
    init.push_back(d ? broadcast_start(d, c.out_types[k]) : zeros(c.out_types[k]));
  }
  for (std::size_t k : moving) xs.push_back(reduced_in_front(dx[k], a.axes));
  const LoopResult r = scan(init, xs, [&](const Vals& v) {
    Vals args(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n));
    Vals tangents(2 * n);
    for (std::size_t i = 0; i < floating.size(); ++i) tangents[floating[i]] = v[n + i];
    const std::size_t x0 = n + floating.size();
    for (std::size_t k = 0; k < n; ++k) args.push_back(v[x0 + k]);
    for (std::size_t i = 0; i < moving.size(); ++i) tangents[n + moving[i]] = v[x0 + n + i];
    Vals next = emit_scalar_graph(g, args);
    const Vals dot = emit_scalar_graph_tangents(g, args, tangents);
    for (std::size_t k : floating) next.push_back(dot[k] ? dot[k] : zeros_like(next[k]));
    return next;
  });
  for (std::size_t i = 0; i < floating.size(); ++i) dy[floating[i]] = r.carries[n + i];
}

void Reduce::batch(const Call& c, BatchContext& ctx) {
  FoldAttrs a = c.as<FoldAttrs>();
  const std::size_t n = c.in.size() / 2;
  a.axes = shifted_axes(a.axes);
  Vals in;
  for (std::size_t k = 0; k < n; ++k) {
    const Val x = ctx.lifted(static_cast<int>(k));
    for (std::int64_t axis : a.axes) {
      if (ctx.mask_ragged(x, static_cast<int>(axis), ir::Identity::zero) == x) continue;
      throw UserError({"TL-VMAP-002", kInfo.name,
                       "a reducer has no padding that changes nothing, and the size of a reduced "
                       "axis differs between lanes",
                       "use reduce_sum or its like", ir::OriginScope::current()->place});
    }
    in.push_back(x);
  }
  for (std::size_t k = n; k < 2 * n; ++k) {
    const int i = static_cast<int>(k);
    const Type result = c.out_types[k - n].with_leading(ctx.lanes());
    if (!ctx.batched(i) && c.in_types[k].rank() == 0) {
      in.push_back(c.in[k]);
    } else if (c.in_types[k].rank() == 0 && result.rank() > 1) {
      const std::int64_t lane = 0;
      in.push_back(broadcast_in_dim(ctx.lifted(i), result.shape(), std::span(&lane, 1)));
    } else {
      in.push_back(ctx.lifted(i));
    }
  }
  const Vals out = ir::Builder::current().emit_all(*c.op, ir::make_attr(a), in);
  for (std::size_t k = 0; k < n; ++k) ctx.set(static_cast<int>(k), out[k]);
}

TLALOC_ROW(Reduce);

Vals reduce(std::span<const Val> xs, std::span<const Val> starts,
            std::span<const std::int64_t> axes, ir::GraphRef reducer) {
  Vals in(xs.begin(), xs.end());
  in.insert(in.end(), starts.begin(), starts.end());
  return ir::Builder::current().emit_all(
      rows::Reduce, ir::make_attr(FoldAttrs{{axes.begin(), axes.end()}, {std::move(reducer)}}), in);
}

}  // namespace tlaloc::ops
