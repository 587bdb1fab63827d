#include "tlaloc/ops/sort.h"

#include <algorithm>
#include <numeric>

#include "tlaloc/ops/strided.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::ops {
namespace {

/// a before b in ascending order. NaN is above everything.
template <class C>
bool before(C a, C b) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return a < b;
}

Vals emit_sort(Val x, int axis, bool descending) {
  return ir::Builder::current().emit_all(rows::Sort, ir::make_attr(SortAttrs{axis, descending}),
                                         Vals{x});
}

}  // namespace

void Sort::infer(InferContext& c) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  const std::int64_t axis = c.as<SortAttrs>().axis;
  if (c.in[0].encoding()) c.fail(kDTypeError, "does not accept quantized values");
  if (axis < 0 || axis >= c.in[0].rank()) c.fail("TL-AXIS-001", "axis is out of range");
  c.out.push_back(c.in[0]);
  c.out.push_back(c.in[0].with_dtype(DType::i32));
}

void Sort::eval(EvalContext& c) {
  const SortAttrs& a = c.as<SortAttrs>();
  const HostArray& x = c.in[0];
  HostArray values = c.make(0), positions = c.make(1);
  const auto axis = static_cast<std::size_t>(a.axis);
  const std::int64_t n = x.extents()[axis];
  if (n > std::numeric_limits<std::int32_t>::max()) {
    throw UserError({"TL-SIZE-001",
                     kInfo.name,
                     "more elements along the axis than an i32 counts",
                     "sort smaller pieces",
                     {}});
  }
  Extents outer = x.extents(), step = row_major_strides(x.extents());
  const std::int64_t stride = step[axis];
  outer.erase(outer.begin() + a.axis);
  step.erase(step.begin() + a.axis);
  auto* at = static_cast<std::int32_t*>(positions.mutable_data());
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
    const T* in = static_cast<const T*>(x.data());
    T* out = static_cast<T*>(values.mutable_data());
    for_each_offset(outer, 0, step, [&](std::int64_t, std::int64_t base) {
      auto value = [&](std::int32_t i) { return Storage<T>::load(in[base + i * stride]); };
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](std::int32_t i, std::int32_t j) {
        return a.descending ? before(value(j), value(i)) : before(value(i), value(j));
      });
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int32_t from = order[static_cast<std::size_t>(i)];
        out[base + i * stride] = in[base + from * stride];
        at[base + i * stride] = from;
      }
    });
  });
  c.out.push_back(std::move(values));
  c.out.push_back(std::move(positions));
}

void Sort::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  dy[0] = take_along(dx[0], c.out[1], static_cast<int>(c.as<SortAttrs>().axis));
}

void Sort::batch(const Call& c, BatchContext& ctx) {
  const SortAttrs& a = c.as<SortAttrs>();
  // Padding sorts behind what counts.
  Val x = ctx.lifted(0);
  x = ctx.mask_ragged(x, static_cast<int>(a.axis) + 1,
                      a.descending ? ir::Identity::lowest : ir::Identity::highest);
  const Vals r = emit_sort(x, static_cast<int>(a.axis) + 1, a.descending);
  ctx.set(0, r[0]);
  ctx.set(1, r[1]);
}

TLALOC_ROW(Sort);

Val take_along(Val x, Val positions, int axis) {
  GatherAttrs g;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (i == axis) continue;
    g.dims.operand_batch.push_back(i);
    g.dims.indices_batch.push_back(i);
  }
  g.dims.collapsed_axes = {axis};
  g.dims.index_map = {axis};
  g.dims.vector_axis = x.rank();
  g.sizes.assign(static_cast<std::size_t>(x.rank()), Dim(1));
  return gather(x, positions, std::move(g));
}
Sorted sort(Val x, int axis, bool descending) {
  const Vals r = emit_sort(x, axis, descending);
  return {r[0], r[1]};
}

}  // namespace tlaloc::ops
