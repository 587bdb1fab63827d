#include "tlaloc/ops/joining.h"

#include "tlaloc/ops/ragged.h"
#include "tlaloc/ops/strided.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::ops {
namespace {
std::string axis_name(int axis) { return "axis " + std::to_string(axis); }
std::vector<Dim> negated(std::vector<Dim> dims) {
  for (Dim& d : dims) d = Dim(0) - d;
  return dims;
}
}  // namespace

// ---- pad ----

void Pad::infer(InferContext& c) {
  const PadAttrs& a = c.as<PadAttrs>();
  if (c.in.size() != 2) c.fail("TL-ARITY-001", "takes an operand and the padding value");
  const Type x = c.in[0];
  if (x.encoding()) c.fail(kDTypeError, "does not accept quantized values", "dequantize first");
  if (x.dtype() != c.in[1].dtype()) c.fail("TL-DTYPE-001", "dtypes differ", "convert the value");
  const std::size_t rank = usize(x.rank());
  if (c.in[1].rank() != 0) c.fail("TL-RANK-001", "the padding value must be a scalar");
  if (a.low.size() != rank || a.high.size() != rank || a.interior.size() != rank) {
    c.fail("TL-RANK-001", "one low, high and interior padding per axis is needed");
  }
  std::vector<Dim> shape;
  for (int i = 0; i < x.rank(); ++i) {
    const Dim n = x.dim(i), interior = a.interior[usize(i)];
    c.require_less_equal(0, interior, "interior padding on " + axis_name(i));
    Dim size = n + a.low[usize(i)] + a.high[usize(i)];
    if (interior != Dim(0)) size += max(n - 1, 0) * interior;
    c.require_less_equal(0, size, "padded size of " + axis_name(i));
    shape.push_back(size);
  }
  c.out.push_back(x.with_shape(shape));
}
void Pad::eval(EvalContext& c) {
  const PadAttrs& a = c.as<PadAttrs>();
  const HostArray& x = c.in[0];
  HostArray y = c.make();
  // Element i of the operand goes to low + i * step where that lies within the result: i in
  // [first, last).
  Extents step = row_major_strides(y.extents()), from = row_major_strides(x.extents());
  Extents count(step.size());
  std::int64_t to_offset = 0, from_offset = 0;
  for (std::size_t k = 0; k < step.size(); ++k) {
    const std::int64_t low = c.size_of(a.low[k]), pitch = c.size_of(a.interior[k]) + 1;
    const std::int64_t first = low < 0 ? (-low + pitch - 1) / pitch : 0;
    const std::int64_t room = y.extents()[k] - low;
    const std::int64_t last = std::min(x.extents()[k], room <= 0 ? 0 : (room - 1) / pitch + 1);
    count[k] = std::max<std::int64_t>(last - first, 0);
    to_offset += step[k] * (low + first * pitch);
    from_offset += from[k] * first;
    step[k] *= pitch;
  }
  HostArray kept = HostArray::uninitialized(x.dtype(), count);
  gather_strided(x, from_offset, from, kept);
  by_size(y.dtype(), [&]<class T>(TypeTag<T>) {
    std::fill_n(static_cast<T*>(y.mutable_data()), y.size(),
                *static_cast<const T*>(c.in[1].data()));
  });
  scatter_strided(kept, to_offset, step, y);
  c.out.push_back(std::move(y));
}
Val Pad::simplify(const Call& c) {
  const PadAttrs& a = c.as<PadAttrs>();
  auto none = [](const std::vector<Dim>& v) {
    return std::ranges::all_of(v, [](Dim d) { return d == Dim(0); });
  };
  return none(a.low) && none(a.high) && none(a.interior) ? c.in[0] : Val{};
}
void Pad::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = emit_like(c, {dx[0] ? dx[0] : zeros_like(c.in[0]), dx[1] ? dx[1] : zeros_like(c.in[1])});
}
void Pad::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const PadAttrs& a = c.as<PadAttrs>();
  const Type x = c.in_types[0];
  const std::vector<Dim> none(a.low.size(), 0);
  if (!c.in[0]) {
    Val v = pad(ct[0], scalar(0, x.dtype()), negated(a.low), negated(a.high), none);
    std::vector<Dim> strides;
    for (Dim d : a.interior) strides.push_back(d + 1);
    v = slice(v, none, v.shape(), strides);
    sink.add(0, reshape(v, x.shape()));
  }
  if (!c.in[1]) {
    // Selected, not subtracted from the whole sum: exact, and no NaN of the operand's part leaks.
    const Val no = scalar(0, DType::boolean);
    const Val inside = pad(full(1, x.with_dtype(DType::boolean)), no, a.low, a.high, a.interior);
    sink.add(1, reduce_sum(select(inside, zeros_like(ct[0]), ct[0]), axis_range(0, x.rank())));
  }
}
void Pad::batch(const Call& c, BatchContext& ctx) {
  const PadAttrs& a = c.as<PadAttrs>();
  const auto low = prepended(0, a.low), high = prepended(0, a.high);
  const auto interior = prepended(0, a.interior);
  for (std::size_t i = 0; i < a.low.size(); ++i) {
    // Padding in front moves the elements, and padding behind would come behind the longest lane.
    require_same_in_lanes(ctx, a.low[i], *c.op, "low padding");
    require_same_in_lanes(ctx, a.interior[i], *c.op, "interior padding");
    if (a.low[i] == Dim(0) && a.high[i] == Dim(0) && a.interior[i] == Dim(0)) continue;
    require_same_in_lanes(ctx, c.in_types[0].dim(static_cast<int>(i)), *c.op, "padded size");
  }
  const Val x = ctx.lifted(0);
  if (!ctx.batched(1)) {
    ctx.set(0, pad(x, c.in[1], low, high, interior));
    return;
  }
  const Val inside = pad(full(1, x.type().with_dtype(DType::boolean)), scalar(0, DType::boolean),
                         low, high, interior);
  const Val y = pad(x, scalar(0, x.dtype()), low, high, interior);
  ctx.set(0, select(inside, y, broadcast_in_dim(ctx.lifted(1), y.shape(), axis_range(0, 1))));
}

// ---- concatenate ----

void Concatenate::infer(InferContext& c) {
  const std::int64_t axis = c.as<ConcatenateAttrs>().axis;
  if (c.in.empty()) c.fail("TL-ARITY-001", "takes at least one operand");
  const Type first = c.in[0];
  if (axis < 0 || axis >= first.rank()) c.fail("TL-AXIS-001", "axis is out of range");
  Dim size = 0;
  for (const Type t : c.in) {
    if (t.encoding()) c.fail(kDTypeError, "does not accept quantized values", "dequantize first");
    if (t.dtype() != first.dtype()) c.fail("TL-DTYPE-001", "dtypes differ", "convert one operand");
    if (t.rank() != first.rank()) c.fail("TL-RANK-001", "ranks differ");
    for (int i = 0; i < t.rank(); ++i) {
      if (i != axis) c.require_equal(first.dim(i), t.dim(i), axis_name(i));
    }
    size += t.dim(static_cast<int>(axis));
  }
  std::vector<Dim> shape(first.shape().begin(), first.shape().end());
  shape[usize(axis)] = size;
  c.out.push_back(first.with_shape(shape));
}
void Concatenate::eval(EvalContext& c) {
  const std::size_t axis = usize(c.as<ConcatenateAttrs>().axis);
  HostArray y = c.make();
  const Extents step = row_major_strides(y.extents());
  std::int64_t offset = 0;
  for (const HostArray& part : c.in) {
    scatter_strided(part, offset, step, y);
    offset += step[axis] * part.extents()[axis];
  }
  c.out.push_back(std::move(y));
}
Val Concatenate::simplify(const Call& c) { return c.in.size() == 1 ? c.in[0] : Val{}; }
void Concatenate::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  Vals parts;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    parts.push_back(dx[k] ? dx[k] : zeros_like(c.in[k]));
  }
  dy[0] = concatenate(parts, static_cast<int>(c.as<ConcatenateAttrs>().axis));
}
void Concatenate::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const int axis = static_cast<int>(c.as<ConcatenateAttrs>().axis);
  Dim start = 0;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    const Dim limit = start + c.in_types[k].dim(axis);
    if (!c.in[k]) sink.add(static_cast<int>(k), slice_axis(ct[0], axis, start, limit));
    start = limit;
  }
}
void Concatenate::batch(const Call& c, BatchContext& ctx) {
  const int axis = static_cast<int>(c.as<ConcatenateAttrs>().axis);
  Vals parts;
  for (std::size_t k = 0; k < c.in.size(); ++k) {
    require_same_in_lanes(ctx, c.in_types[k].dim(axis), *c.op, "joined sizes");
    parts.push_back(ctx.lifted(static_cast<int>(k)));
  }
  ctx.set(0, concatenate(parts, axis + 1));
}

// ---- reverse ----

void Reverse::infer(InferContext& c) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  const auto& axes = c.as<ReverseAttrs>().axes;
  if (c.in[0].encoding()) c.fail(kDTypeError, "does not accept quantized values");
  if (!are_axes(axes, c.in[0].rank()) || !increasing(axes)) {
    c.fail("TL-AXIS-001", "axes must be distinct, increasing and within the rank");
  }
  c.out.push_back(c.in[0]);
}
void Reverse::eval(EvalContext& c) {
  HostArray y = c.make();
  Extents step = row_major_strides(y.extents());
  std::int64_t offset = 0;
  for (std::int64_t axis : c.as<ReverseAttrs>().axes) {
    offset += step[usize(axis)] * (y.extents()[usize(axis)] - 1);
    step[usize(axis)] = -step[usize(axis)];
  }
  gather_strided(c.in[0], offset, step, y);
  c.out.push_back(std::move(y));
}
Val Reverse::simplify(const Call& c) {
  const auto& axes = c.as<ReverseAttrs>().axes;
  if (axes.empty()) return c.in[0];
  ir::Builder& b = ir::Builder::current();
  const bool twice = b.op_of(c.in[0]) == &rows::Reverse &&
                     ir::attr_as<ReverseAttrs>(b.attr_of(c.in[0])).axes == axes;
  return twice ? b.operand_of(c.in[0], 0) : Val{};
}
void Reverse::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  sink.add(0, reverse(ct[0], c.as<ReverseAttrs>().axes));
}
void Reverse::batch(const Call& c, BatchContext& ctx) {
  for (std::int64_t axis : c.as<ReverseAttrs>().axes) {
    require_same_in_lanes(ctx, c.in_types[0].dim(static_cast<int>(axis)), *c.op, "reversed size");
  }
  ctx.set(0, reverse(ctx.lifted(0), shifted_axes(c.as<ReverseAttrs>().axes)));
}

TLALOC_ROW(Pad);
TLALOC_ROW(Concatenate);
TLALOC_ROW(Reverse);

// ---- the vocabulary ----

Val pad(Val x, Val value, std::span<const Dim> low, std::span<const Dim> high,
        std::span<const Dim> interior) {
  return ir::Builder::current().emit(rows::Pad,
                                     ir::make_attr(PadAttrs{{low.begin(), low.end()},
                                                            {high.begin(), high.end()},
                                                            {interior.begin(), interior.end()}}),
                                     {x, value});
}
Val concatenate(std::span<const Val> parts, int axis) {
  return ir::Builder::current().emit(rows::Concatenate, ir::make_attr(ConcatenateAttrs{axis}),
                                     parts);
}
Val reverse(Val x, std::span<const std::int64_t> axes) {
  return ir::Builder::current().emit(rows::Reverse,
                                     ir::make_attr(ReverseAttrs{{axes.begin(), axes.end()}}), {x});
}

}  // namespace tlaloc::ops
