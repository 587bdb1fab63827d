#include "tlaloc/ops/reduce.h"

#include <algorithm>
#include <limits>

#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/strided.h"
#include "tlaloc/ops/val_reduce.h"

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

Val merge_axes(Val x, std::span<const std::int64_t> axes) {
  const auto kept = other_axes(x.rank(), axes);
  auto permutation = kept;
  permutation.insert(permutation.end(), axes.begin(), axes.end());
  std::vector<Dim> shape;
  for (std::int64_t axis : kept) shape.push_back(x.dim(static_cast<int>(axis)));
  shape.emplace_back(1);
  for (std::int64_t axis : axes) shape.back() *= x.dim(static_cast<int>(axis));
  return reshape(transpose(x, permutation), shape);
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

namespace {

/// y[outer] = fold over the reduced axes, in row-major order, in the compute type.
template <class T, class Start, class Fold>
void fold_axes(EvalContext& c, Start start, const Fold& fold) {
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
  const T* in = static_cast<const T*>(x.data());
  T* out = static_cast<T*>(y.mutable_data());
  for_each_offset(outer_extents, 0, outer_step, [&](std::int64_t i, std::int64_t at) {
    auto value = start;
    for_each_offset(inner_extents, at, inner_step, [&](std::int64_t, std::int64_t from) {
      value = fold(value, Storage<T>::load(in[from]));
    });
    out[i] = Storage<T>::store(value);
  });
  c.out.push_back(std::move(y));
}

}  // namespace

void ReduceSum::eval(EvalContext& c) {
  dispatch(c.in[0].dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    if constexpr (!std::is_same_v<T, bool>) {
      fold_axes<T>(c, C(0), [](C sum, C x) { return Add::eval(sum, x); });
    }
  });
}
void ReduceMax::eval(EvalContext& c) {
  dispatch(c.in[0].dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    constexpr C kStart = std::is_floating_point_v<C> ? -std::numeric_limits<C>::infinity()
                                                     : std::numeric_limits<C>::lowest();
    fold_axes<T>(c, kStart, [](C best, C x) { return Max::eval(best, x); });
  });
}
void ReduceMin::eval(EvalContext& c) {
  dispatch(c.in[0].dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    constexpr C kStart = std::is_floating_point_v<C> ? std::numeric_limits<C>::infinity()
                                                     : std::numeric_limits<C>::max();
    fold_axes<T>(c, kStart, [](C best, C x) { return Min::eval(best, x); });
  });
}
void ReduceProd::eval(EvalContext& c) {
  dispatch(c.in[0].dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    if constexpr (!std::is_same_v<T, bool>) {
      fold_axes<T>(c, C(1), [](C product, C x) { return Mul::eval(product, x); });
    }
  });
}
void ReduceAnd::eval(EvalContext& c) {
  dispatch(c.in[0].dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      fold_axes<T>(c, static_cast<T>(-1), [](T acc, T x) { return static_cast<T>(acc & x); });
    }
  });
}
void ReduceMax::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const auto& axes = c.as<ReduceAttrs>().axes;
  const Val y = broadcast_over(c.out[0], c.in_types[0], axes);
  const Val is_best = compare(Comparison::eq, c.in[0], y);
  const Val winners = reduce_sum(convert(is_best, dx[0].dtype()), axes);
  // No winner (a NaN in the row) divides by zero: all shares are NaN.
  const Val share = convert(is_best, dx[0].dtype()) / broadcast_over(winners, dx[0].type(), axes);
  const Val moves = compare(Comparison::ne, share, zeros_like(share));
  dy[0] = reduce_sum(select(moves, dx[0] * share, zeros_like(share)), axes);
}
void ReduceMin::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  ReduceMax::jvp(c, dx, dy);
}
void ReduceProd::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const auto& axes = c.as<ReduceAttrs>().axes;
  const Val x = merge_axes(c.in[0], axes);
  const int last = x.rank() - 1;
  const Val others = cumprod(x, last, {.exclusive = true}) *
                     cumprod(x, last, {.reverse = true, .exclusive = true});
  const std::int64_t merged = last;
  dy[0] = reduce_sum(merge_axes(dx[0], axes) * others, std::span(&merged, 1));
}
void ReduceOr::eval(EvalContext& c) {
  dispatch(c.in[0].dtype(), [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_integral_v<T>) {
      fold_axes<T>(c, T(0), [](T acc, T x) { return static_cast<T>(acc | x); });
    }
  });
}
void ReduceSum::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  sink.add(0, broadcast_over(ct[0], c.in_types[0], c.as<ReduceAttrs>().axes));
}

TLALOC_ROW(ReduceSum);
TLALOC_ROW(ReduceMax);
TLALOC_ROW(ReduceOr);
TLALOC_ROW(ReduceMin);
TLALOC_ROW(ReduceProd);
TLALOC_ROW(ReduceAnd);

namespace {
Val reduce(const ir::OpDef& op, Val x, std::span<const std::int64_t> axes) {
  if (axes.empty()) return x;
  return ir::Builder::current().emit(op, ir::make_attr(ReduceAttrs{{axes.begin(), axes.end()}}),
                                     {x});
}
}  // namespace

Val reduce_sum(Val x, std::span<const std::int64_t> axes) {
  return reduce(rows::ReduceSum, x, axes);
}
Val reduce_max(Val x, std::span<const std::int64_t> axes) {
  return reduce(rows::ReduceMax, x, axes);
}
Val reduce_or(Val x, std::span<const std::int64_t> axes) { return reduce(rows::ReduceOr, x, axes); }

Val reduce_min(Val x, std::span<const std::int64_t> axes) {
  return reduce(rows::ReduceMin, x, axes);
}
Val reduce_prod(Val x, std::span<const std::int64_t> axes) {
  return reduce(rows::ReduceProd, x, axes);
}
Val reduce_and(Val x, std::span<const std::int64_t> axes) {
  return reduce(rows::ReduceAnd, x, axes);
}

}  // namespace tlaloc::ops
