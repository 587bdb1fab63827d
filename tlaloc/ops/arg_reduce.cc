#include "tlaloc/ops/arg_reduce.h"

#include <string>

#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/lines.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::ops {
namespace {

/// better(a, b): a comes before an earlier b.
template <class Better>
void eval_position(EvalContext& c, const Better& better) {
  const HostArray x = c.take(0);
  HostArray y = c.make();
  const Lines lines(x.extents(), c.as<ArgReduceAttrs>().axis);
  dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
    const T* in = static_cast<const T*>(x.data());
    auto is_nan = [](auto v) { return v != v; };
    dispatch(y.dtype(), [&]<class I>(TypeTag<I>) {
      I* out = static_cast<I*>(y.mutable_data());
      lines.each([&](std::int64_t line, std::int64_t start) {
        std::int64_t best = 0;
        for (std::int64_t i = 1; i < lines.length; ++i) {
          const auto b = Storage<T>::load(in[start + best * lines.step]);
          const auto v = Storage<T>::load(in[start + i * lines.step]);
          if (!is_nan(b) && (is_nan(v) || better(v, b))) best = i;
        }
        out[line] = convert_element<I>(best);
      });
    });
  });
  c.out.push_back(std::move(y));
}
void batch_position(const Call& c, BatchContext& ctx, ir::Identity identity) {
  ArgReduceAttrs a = c.as<ArgReduceAttrs>();
  ++a.axis;
  const Val x = ctx.mask_ragged(ctx.lifted(0), static_cast<int>(a.axis), identity);
  ctx.set(0, ir::Builder::current().emit(*c.op, ir::make_attr(a), {x}));
}

}  // namespace

void ArgReduction::infer(InferContext& c) {
  Unary::check_operand(c);
  const auto& a = c.as<ArgReduceAttrs>();
  const Type x = c.in[0];
  if (is_complex(x.dtype())) c.fail(kDTypeError, "complex numbers have no order");
  if (!is_integer(a.dtype)) c.fail(kDTypeError, "positions are integers");
  if (a.axis < 0 || a.axis >= x.rank()) c.fail("TL-AXIS-001", "axis is out of range");
  const Dim n = x.dim(static_cast<int>(a.axis));
  const std::string axis = "axis " + std::to_string(a.axis);
  if (n == Dim(0)) {
    c.fail("TL-SHAPE-001", axis + " is empty: there is no element to give the position of",
           "pad the axis, or don't call it without elements");
  }
  c.require_less_equal(1, n,
                       axis +
                           " must not be empty, or there is no element to give the "
                           "position of");
  if (byte_size(a.dtype) < 4) {
    const int bits = bit_width(a.dtype) - is_signed_integer(a.dtype);
    c.require_less_equal(n, std::int64_t{1} << bits, "positions must fit into the index type");
  }
  std::vector<Dim> shape(x.shape().begin(), x.shape().end());
  shape.erase(shape.begin() + a.axis);
  c.out.push_back(Type::get(a.dtype, shape));
}
void ArgMax::eval(EvalContext& c) {
  eval_position(c, [](auto a, auto b) { return a > b; });
}
void ArgMin::eval(EvalContext& c) {
  eval_position(c, [](auto a, auto b) { return a < b; });
}
void ArgMax::batch(const Call& c, BatchContext& ctx) {
  batch_position(c, ctx, ir::Identity::lowest);
}
void ArgMin::batch(const Call& c, BatchContext& ctx) {
  batch_position(c, ctx, ir::Identity::highest);
}

TLALOC_ROW(ArgMax);
TLALOC_ROW(ArgMin);

Val argmax(Val x, int axis, DType dtype) {
  return ir::Builder::current().emit(rows::ArgMax, ir::make_attr(ArgReduceAttrs{axis, dtype}), {x});
}
Val argmin(Val x, int axis, DType dtype) {
  return ir::Builder::current().emit(rows::ArgMin, ir::make_attr(ArgReduceAttrs{axis, dtype}), {x});
}

}  // namespace tlaloc::ops
