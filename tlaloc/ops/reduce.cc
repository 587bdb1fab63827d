#include "tlaloc/ops/reduce.h"

#include <algorithm>

#include "tlaloc/ops/strided.h"

namespace tlaloc::ops {

std::vector<std::int64_t> other_axes(int rank, std::span<const std::int64_t> axes) {
  std::vector<std::int64_t> r;
  for (std::int64_t i = 0; i < rank; ++i) {
    if (std::ranges::find(axes, i) == axes.end()) r.push_back(i);
  }
  return r;
}

Val broadcast_over(Val small, Type operand, std::span<const std::int64_t> axes) {
  return broadcast_in_dim(small, operand.shape(), other_axes(operand.rank(), axes));
}

void Reduction::infer_axes(InferContext& c) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  const auto& axes = c.as<ReduceAttrs>().axes;
  const Type x = c.in[0];
  if (x.encoding()) c.fail(kDTypeError, "does not accept quantized values");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] < 0 || axes[i] >= x.rank() || (i && axes[i] <= axes[i - 1])) {
      c.fail("TL-AXIS-001", "reduced axes must be distinct, increasing and within the rank");
    }
  }
  std::vector<Dim> shape;
  for (std::int64_t axis : other_axes(x.rank(), axes)) {
    shape.push_back(x.dim(static_cast<int>(axis)));
  }
  c.out.push_back(Type::get(x.dtype(), shape));
}

void Reduction::batch_axes(const Call& c, BatchContext& ctx, ir::Identity identity) {
  std::vector<std::int64_t> axes;
  Val x = ctx.lifted(0);
  for (std::int64_t axis : c.as<ReduceAttrs>().axes) {
    axes.push_back(axis + 1);
    x = ctx.mask_ragged(x, static_cast<int>(axis + 1), identity);
  }
  ctx.set(0, ir::Builder::current().emit(*c.op, ir::make_attr(ReduceAttrs{axes}), {x}));
}

void ReduceSum::eval(EvalContext& c) {
  const auto& axes = c.as<ReduceAttrs>().axes;
  const HostArray& x = c.in[0];
  HostArray y = c.make();
  const Extents strides = row_major_strides(x.extents());
  Extents outer_extents, outer_step, inner_extents, inner_step;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    const bool reduced = std::ranges::find(axes, axis) != axes.end();
    (reduced ? inner_extents : outer_extents).push_back(x.extents()[i]);
    (reduced ? inner_step : outer_step).push_back(strides[i]);
  }
  dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    if constexpr (!std::is_same_v<T, bool>) {
      const T* in = static_cast<const T*>(x.data());
      T* out = static_cast<T*>(y.mutable_data());
      for_each_offset(outer_extents, 0, outer_step, [&](std::int64_t i, std::int64_t at) {
        C sum = 0;
        for_each_offset(inner_extents, at, inner_step, [&](std::int64_t, std::int64_t from) {
          // Unsigned addition: integers wrap.
          if constexpr (std::is_integral_v<C>) {
            sum = static_cast<C>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(in[from]));
          } else {
            sum += static_cast<C>(in[from]);
          }
        });
        out[i] = static_cast<T>(sum);
      });
    }
  });
  c.out.push_back(std::move(y));
}
void ReduceSum::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  sink.add(0, broadcast_over(ct[0], c.in_types[0], c.as<ReduceAttrs>().axes));
}

TLALOC_ROW(ReduceSum);

Val reduce_sum(Val x, std::span<const std::int64_t> axes) {
  if (axes.empty()) return x;
  return ir::Builder::current().emit(
      rows::ReduceSum, ir::make_attr(ReduceAttrs{{axes.begin(), axes.end()}}), {x});
}

}  // namespace tlaloc::ops
