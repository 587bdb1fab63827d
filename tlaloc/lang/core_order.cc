// Orders and running totals of the untyped core.
#include <array>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/lang/core_index.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::core {
namespace {

using ir::Dim;
using ir::Val;

/// Axis from 0, or UserError TL-AXIS-001; a negative one counts from the end.
int axis_in(const OpCall& call, const Ref& x, int axis) {
  const int r = core::rank(x);
  if (axis < -r || axis >= r) {
    throw UserError({"TL-AXIS-001", call.name,
                     "axis " + std::to_string(axis) + " is out of range for " + describe(x), "",
                     user_place(call.where)});
  }
  return axis < 0 ? axis + r : axis;
}

}  // namespace

Ref cumulative(CumulativeOp op, const Ref& x, int axis, bool reverse, AxesSpec axes, Where where) {
  constexpr std::array<const char*, static_cast<std::size_t>(CumulativeOp::count)> kNames{
      "cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"};
  const OpCall call{kNames[static_cast<std::size_t>(op)], where, Variant::of(axis, reverse)};
  const int at = axis_in(call, x, axis);
  return apply(call, std::array{x}, axes, [&](std::span<const Val> in) {
    const ops::Running r{reverse, false};
    switch (op) {
      case CumulativeOp::sum:
        return ops::cumsum(in[0], at, r);
      case CumulativeOp::prod:
        return ops::cumprod(in[0], at, r);
      case CumulativeOp::max:
        return ops::cummax(in[0], at, r);
      case CumulativeOp::min:
        return ops::cummin(in[0], at, r);
      case CumulativeOp::logsumexp:
        return ops::cumlogsumexp(in[0], at, r);
      case CumulativeOp::count:
        break;
    }
    throw InternalError("no such running total");
  });
}

Ref sort(const Ref& x, int axis, bool descending, AxesSpec axes, Where where) {
  const OpCall call{"sort", where, Variant::of(axis, descending)};
  const int at = axis_in(call, x, axis);
  return apply(call, std::array{x}, axes,
               [&](std::span<const Val> in) { return ops::sort(in[0], at, descending).values; });
}
Ref argsort(const Ref& x, int axis, bool descending, AxesSpec axes, Where where) {
  const OpCall call{"argsort", where, Variant::of(axis, descending)};
  const int at = axis_in(call, x, axis);
  return apply(call, std::array{x}, axes,
               [&](std::span<const Val> in) { return ops::sort(in[0], at, descending).positions; });
}
void top_k(const Ref& x, std::int64_t k, Ref& values, Ref& positions, AxesSpec axes, Where where) {
  const OpCall call{"top_k", where, Variant::of(k)};
  const int last = axis_in(call, x, -1);
  const auto labels = labels_of(axes);
  auto r = apply_all(call, std::array{x}, {labels, labels}, [&](std::span<const Val> in) {
    ir::Builder::current().require({ir::Constraint::Kind::less_equal,
                                    Dim(k),
                                    in[0].dim(last),
                                    "top_k: k and the last axis",
                                    {}});
    const ops::Sorted s = ops::top_k(in[0], k);
    return ir::Vals{s.values, s.positions};
  });
  values = std::move(r[0]);
  positions = std::move(r[1]);
}
Ref arg_extreme(bool largest, const Ref& x, int axis, bool keep, AxesSpec axes, Where where) {
  const OpCall call{largest ? "argmax" : "argmin", where, Variant::of(axis, keep)};
  const bool all = axis == -1;
  const int at = all ? 0 : axis_in(call, x, axis);
  return apply(call, std::array{x}, axes, [&](std::span<const Val> in) {
    Val v = in[0];
    std::vector<Dim> kept(v.shape().begin(), v.shape().end());
    if (all) {
      const Dim flat[] = {v.type().elements()};
      v = ops::reshape(v, flat);
      kept.assign(kept.size(), Dim(1));
    } else {
      kept[static_cast<std::size_t>(at)] = Dim(1);
    }
    const Val y = largest ? ops::argmax(v, at) : ops::argmin(v, at);
    return keep ? ops::reshape(y, kept) : y;
  });
}

}  // namespace tlaloc::core
