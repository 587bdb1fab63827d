#include "tlaloc/ops/cumulative.h"

#include "tlaloc/ops/axes.h"
#include "tlaloc/ops/control.h"

namespace tlaloc::ops {

void Cumulative::infer_axis(InferContext& c) {
  Unary::check_operand(c);
  const std::int64_t axis = c.as<CumulativeAttrs>().axis;
  if (axis < 0 || axis >= c.in[0].rank()) c.fail("TL-AXIS-001", "axis is out of range");
  c.out.push_back(c.in[0]);
}
void Cumulative::batch_axis(const Call& c, BatchContext& ctx, ir::Identity identity) {
  CumulativeAttrs a = c.as<CumulativeAttrs>();
  ++a.axis;
  Val x = ctx.lifted(0);
  // Padding comes last: only a run from the end meets it first.
  if (a.reverse) x = ctx.mask_ragged(x, static_cast<int>(a.axis), identity);
  ctx.set(0, ir::Builder::current().emit(*c.op, ir::make_attr(a), {x}));
}

namespace {

Val run(const ir::OpDef& op, Val x, const CumulativeAttrs& a) {
  return ir::Builder::current().emit(op, ir::make_attr(a), {x});
}
/// The op's own results without or with the element itself.
Val exclusive(const Call& c) {
  CumulativeAttrs a = c.as<CumulativeAttrs>();
  if (a.exclusive) return c.out[0];
  a.exclusive = true;
  return run(*c.op, c.in[0], a);
}
Val inclusive(const Call& c) {
  CumulativeAttrs a = c.as<CumulativeAttrs>();
  if (!a.exclusive) return c.out[0];
  a.exclusive = false;
  return run(*c.op, c.in[0], a);
}

/// h_t = step(h_{t-1}, xs_t) along the axis of `a`, from h = 0; the h before each step if
/// exclusive.
Val recurrence(const CumulativeAttrs& a, const Vals& xs,
               const std::function<Val(Val h, const Vals& xs)>& step) {
  const auto axis = static_cast<std::size_t>(a.axis);
  AxisList to_front = axis_range(0, xs[0].rank());
  std::rotate(to_front.begin(), to_front.begin() + a.axis, to_front.begin() + a.axis + 1);
  Vals front;
  for (Val x : xs) front.push_back(transpose(x, to_front));
  const Val h = zeros(front.back().type().without_leading());
  const LoopResult r = scan(
      {h}, front,
      [&](const Vals& v) {
        const Val next = step(v[0], Vals(v.begin() + 1, v.end()));
        return Vals{next, a.exclusive ? v[0] : next};
      },
      xs[0].shape()[axis], a.reverse);
  return transpose(r.ys[0], inverse_permutation(to_front));
}
Val linear_recurrence(const CumulativeAttrs& attrs, Val factor, Val term) {
  return recurrence(attrs, {factor, term}, [](Val h, const Vals& x) { return x[0] * h + x[1]; });
}

/// The tangent of the element that first reached the running extreme.
Val tangent_of_first(const Call& c, Val dx, Comparison not_new) {
  const auto& a = c.as<CumulativeAttrs>();
  const Val x = c.in[0], before = exclusive(c);
  const int axis = static_cast<int>(a.axis);
  // Not "better than": a NaN is new, unless the extreme is NaN already.
  Val is_new = logical_and(logical_not(compare(not_new, x, before)),
                           compare(Comparison::eq, before, before));
  // The first element may equal the start value.
  const Val position = iota(x.type().with_dtype(DType::i64), axis);
  const Val last = dim_value(x.dim(axis)) - scalar_int(1, DType::i64);
  const Val first = a.reverse ? last : scalar_int(0, DType::i64);
  is_new = logical_or(is_new, compare(Comparison::eq, position, first));
  return recurrence(a, {is_new, dx}, [](Val h, const Vals& v) { return select(v[0], v[1], h); });
}

}  // namespace

void CumSum::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  CumulativeAttrs a = c.as<CumulativeAttrs>();
  a.reverse = !a.reverse;
  sink.add(0, run(*c.op, ct[0], a));
}
void CumProd::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = linear_recurrence(c.as<CumulativeAttrs>(), c.in[0], dx[0] * exclusive(c));
}
void CumMax::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = tangent_of_first(c, dx[0], Comparison::le);
}
void CumMin::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = tangent_of_first(c, dx[0], Comparison::ge);
}
void CumLogSumExp::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  // The weights exp(x - y) are at most 1. Where y is -inf, so is x: any finite y gives weight 0.
  const Val y = inclusive(c);
  const Val lowest = scalar(-std::numeric_limits<double>::infinity(), y.dtype());
  const Val safe = select(compare(Comparison::eq, y, lowest), zeros_like(y), y);
  dy[0] = linear_recurrence(c.as<CumulativeAttrs>(), exp(exclusive(c) - safe),
                            dx[0] * exp(c.in[0] - safe));
}

TLALOC_ROW(CumSum);
TLALOC_ROW(CumProd);
TLALOC_ROW(CumMax);
TLALOC_ROW(CumMin);
TLALOC_ROW(CumLogSumExp);

Val cumsum(Val x, int axis, Running r) {
  return run(rows::CumSum, x, {axis, r.reverse, r.exclusive});
}
Val cumprod(Val x, int axis, Running r) {
  return run(rows::CumProd, x, {axis, r.reverse, r.exclusive});
}
Val cummax(Val x, int axis, Running r) {
  return run(rows::CumMax, x, {axis, r.reverse, r.exclusive});
}
Val cummin(Val x, int axis, Running r) {
  return run(rows::CumMin, x, {axis, r.reverse, r.exclusive});
}
Val cumlogsumexp(Val x, int axis, Running r) {
  return run(rows::CumLogSumExp, x, {axis, r.reverse, r.exclusive});
}

}  // namespace tlaloc::ops
