#include "tlaloc/ops/collectives.h"

#include "tlaloc/ops/dim_quotient.h"
#include "tlaloc/ops/kinds.h"
#include "tlaloc/ops/ragged.h"

namespace tlaloc::ops {
namespace {

void check_operand(InferContext& c, const MeshAxis& over) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  const Type x = c.in[0];
  if (x.encoding() || is_complex(x.dtype()) || x.dtype() == DType::boolean) {
    c.fail(kDTypeError, "does not accept this element type", "convert the operand first");
  }
  c.require_less_equal(1, over.devices, "number of devices");
}
/// The type with axis `axis` of that size; fails if there is no such axis.
Type with_size(InferContext& c, std::int64_t axis, const std::function<Dim(Dim)>& size) {
  const Type x = c.in[0];
  if (axis < 0 || axis >= x.rank()) c.fail("TL-AXIS-001", "axis is out of range");
  std::vector<Dim> shape(x.shape().begin(), x.shape().end());
  Dim& d = shape[static_cast<std::size_t>(axis)];
  d = size(d);
  return x.with_shape(shape);
}
/// With one device every collective hands its operand on.
void pass_on(EvalContext& c, const MeshAxis& over) {
  const std::int64_t devices = c.size_of(over.devices);
  if (devices != 1) {
    throw UserError({"TL-MESH-001",
                     c.op->name,
                     "axis '" + over.name + "' has " + std::to_string(devices) +
                         " devices, the interpreter has one",
                     "run it on a back end with that many devices",
                     {}});
  }
  c.out.push_back(c.take(0));
}

}  // namespace

// ---- all_reduce ----

void AllReduce::infer(InferContext& c) {
  check_operand(c, c.as<AllReduceAttrs>().over);
  c.out.push_back(c.in[0]);
}
void AllReduce::eval(EvalContext& c) { pass_on(c, c.as<AllReduceAttrs>().over); }
void AllReduce::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const AllReduceAttrs& a = c.as<AllReduceAttrs>();
  if (a.reduction == Collective::sum) {
    dy[0] = emit_like(c, {dx[0]});
    return;
  }
  const Val wins = compare(Comparison::eq, c.in[0], c.out[0]);
  const Val zero = zeros_like(c.in[0]), one = ones(c.in[0].type());
  // At least one device wins, except where the result is NaN: no share then, and no 0/0.
  const Val ties = max(all_reduce(select(wins, one, zero), Collective::sum, a.over), one);
  dy[0] = all_reduce(select(wins, dx[0] / ties, zero), Collective::sum, a.over);
}
void AllReduce::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const AllReduceAttrs& a = c.as<AllReduceAttrs>();
  require_linear(c, a.reduction == Collective::sum, "an extreme over devices is not linear");
  sink.add(0, all_reduce(ct[0], Collective::sum, a.over));
}
void AllReduce::batch(const Call& c, BatchContext& ctx) {
  ctx.set(0, emit_like(c, {ctx.lifted(0)}));
}

// ---- all_gather ----

void AllGather::infer(InferContext& c) {
  const ExchangeAttrs& a = c.as<ExchangeAttrs>();
  check_operand(c, a.over);
  c.out.push_back(with_size(c, a.axis, [&](Dim d) { return d * a.over.devices; }));
}
void AllGather::eval(EvalContext& c) { pass_on(c, c.as<ExchangeAttrs>().over); }
void AllGather::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = emit_like(c, {dx[0]});
}
void AllGather::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const ExchangeAttrs& a = c.as<ExchangeAttrs>();
  sink.add(0, reduce_scatter(ct[0], static_cast<int>(a.axis), a.over));
}
void AllGather::batch(const Call& c, BatchContext& ctx) {
  const ExchangeAttrs& a = c.as<ExchangeAttrs>();
  require_same_in_lanes(ctx, c.in_types[0].dim(static_cast<int>(a.axis)), *c.op, "exchanged size");
  ctx.set(0, all_gather(ctx.lifted(0), static_cast<int>(a.axis) + 1, a.over));
}

// ---- reduce_scatter ----

void ReduceScatter::infer(InferContext& c) {
  const ExchangeAttrs& a = c.as<ExchangeAttrs>();
  check_operand(c, a.over);
  c.out.push_back(with_size(c, a.axis, [&](Dim d) {
    if (!exact_quotient(d, a.over.devices)) {
      c.require_equal(mod(d, a.over.devices), 0, "rest of the axis by the number of devices");
    }
    return quotient(d, a.over.devices);
  }));
}
void ReduceScatter::eval(EvalContext& c) { pass_on(c, c.as<ExchangeAttrs>().over); }
void ReduceScatter::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = emit_like(c, {dx[0]});
}
void ReduceScatter::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const ExchangeAttrs& a = c.as<ExchangeAttrs>();
  const Val v = all_gather(ct[0], static_cast<int>(a.axis), a.over);
  sink.add(0, reshape(v, c.in_types[0].shape()));
}
void ReduceScatter::batch(const Call& c, BatchContext& ctx) {
  const ExchangeAttrs& a = c.as<ExchangeAttrs>();
  require_same_in_lanes(ctx, c.in_types[0].dim(static_cast<int>(a.axis)), *c.op, "exchanged size");
  ctx.set(0, reduce_scatter(ctx.lifted(0), static_cast<int>(a.axis) + 1, a.over));
}

TLALOC_ROW(AllReduce);
TLALOC_ROW(AllGather);
TLALOC_ROW(ReduceScatter);

Val all_reduce(Val x, Collective reduction, MeshAxis over) {
  return ir::Builder::current().emit(
      rows::AllReduce, ir::make_attr(AllReduceAttrs{reduction, std::move(over)}), {x});
}
Val all_gather(Val x, int axis, MeshAxis over) {
  return ir::Builder::current().emit(rows::AllGather,
                                     ir::make_attr(ExchangeAttrs{axis, std::move(over)}), {x});
}
Val reduce_scatter(Val x, int axis, MeshAxis over) {
  return ir::Builder::current().emit(rows::ReduceScatter,
                                     ir::make_attr(ExchangeAttrs{axis, std::move(over)}), {x});
}

}  // namespace tlaloc::ops
