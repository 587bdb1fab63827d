#include "tlaloc/ops/reduce_window.h"

#include <algorithm>
#include <limits>

#include "tlaloc/ops/cumulative.h"
#include "tlaloc/ops/ragged.h"

namespace tlaloc::ops {
namespace {

/// Calls f.template operator()<C>(start, combine) for compute type C; false if the monoid does not
/// take it.
template <class C, class F>
bool with_monoid(Monoid m, const F& f) {
  if constexpr (!std::is_same_v<C, bool>) {
    if (m == Monoid::sum) return f(C(0), &Add::eval<C>), true;
    if (m == Monoid::prod) return f(C(1), &Mul::eval<C>), true;
  }
  if constexpr (std::is_integral_v<C>) {
    if (m == Monoid::all) return f(static_cast<C>(-1), &And::eval<C>), true;
    if (m == Monoid::any) return f(C(0), &Or::eval<C>), true;
  }
  if (m == Monoid::max) return f(CumMax::start<C>(), &Max::eval<C>), true;
  if (m == Monoid::min) return f(CumMin::start<C>(), &Min::eval<C>), true;
  return false;
}
ir::Identity identity_of(Monoid m) {
  switch (m) {
    case Monoid::prod:
      return ir::Identity::one;
    case Monoid::max:
      return ir::Identity::lowest;
    case Monoid::min:
      return ir::Identity::highest;
    case Monoid::all:
      return ir::Identity::all_ones;
    default:
      return ir::Identity::zero;
  }
}
/// A window grows with the longest lane, which changes what it holds unless it reaches to the end
/// of its axis, or from there to the beginning, whatever the size is.
void require_same_windows(const Call& c, BatchContext& ctx, const Window& w, Type x) {
  for (std::size_t i = 0; i < w.size.size(); ++i) {
    const Dim size = w.size[i];
    const bool whole = size == x.dim(static_cast<int>(i)) && w.base_dilation[i] == 1;
    const bool to_end = w.low[i] == Dim(0);
    const bool to_begin = w.low[i] == (size - 1) * Dim(w.window_dilation[i]) && w.high[i] == Dim(0);
    if (whole && (to_end || to_begin)) continue;
    require_same_in_lanes(ctx, size, *c.op, "window size");
    require_same_in_lanes(ctx, w.low[i], *c.op, "low padding");
  }
}
/// x with padding of ragged axes that never wins, or changes nothing.
Val masked(Val x, BatchContext& ctx, ir::Identity identity) {
  for (int axis = 1; axis < x.rank(); ++axis) x = ctx.mask_ragged(x, axis, identity);
  return x;
}

}  // namespace

// ---- reduce_window ----

void ReduceWindow::infer(InferContext& c) {
  Unary::check_operand(c);
  const auto& a = c.as<ReduceWindowAttrs>();
  const Type x = c.in[0];
  bool accepted = false;
  if (!is_complex(x.dtype())) {
    dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
      accepted = with_monoid<ComputeType<T>>(a.monoid, [](auto, auto) {});
    });
  }
  if (!accepted) c.fail(kDTypeError, "does not accept this element type");
  c.out.push_back(Type::get(x.dtype(), infer_windows(c, x, a.window)));
}
void ReduceWindow::eval(EvalContext& c) {
  const auto& a = c.as<ReduceWindowAttrs>();
  const HostArray x = c.take(0);
  HostArray y = c.make();
  const WindowVisitor windows(c, a.window, x.extents(), y.extents());
  dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const T* in = static_cast<const T*>(x.data());
    T* out = static_cast<T*>(y.mutable_data());
    with_monoid<C>(a.monoid, [&](C start, auto combine) {
      C acc = start;
      windows.each([&](std::int64_t) { acc = start; },
                   [&](std::int64_t at) { acc = combine(acc, Storage<T>::load(in[at])); },
                   [&](std::int64_t i) { out[i] = Storage<T>::store(acc); });
    });
  });
  c.out.push_back(std::move(y));
}
void ReduceWindow::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const auto& a = c.as<ReduceWindowAttrs>();
  if (a.monoid == Monoid::sum) {
    dy[0] = emit_like(c, {dx[0]});
  } else if (a.monoid == Monoid::max || a.monoid == Monoid::min) {
    dy[0] = select_and_gather(dx[0], c.in[0], a.window, a.monoid == Monoid::max);
  } else {
    throw UserError({"TL-GRAD-003", kInfo.name, "a product over windows has no derivative here",
                     "gather the windows and use reduce_prod", ir::OriginScope::current()->place});
  }
}
void ReduceWindow::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const auto& a = c.as<ReduceWindowAttrs>();
  require_linear(c, a.monoid == Monoid::sum, "only a sum over windows is linear");
  sink.add(0, reduce_window(ct[0], Monoid::sum,
                            transposed_window(a.window, c.in_types[0], c.out_types[0])));
}
void ReduceWindow::batch(const Call& c, BatchContext& ctx) {
  const auto& a = c.as<ReduceWindowAttrs>();
  require_same_windows(c, ctx, a.window, c.in_types[0]);
  ctx.set(0, reduce_window(masked(ctx.lifted(0), ctx, identity_of(a.monoid)), a.monoid,
                           with_lane_axis(a.window)));
}

// ---- select_and_gather, select_and_scatter ----

namespace {

/// Emits `op` with x as the nonlinear operand.
Val emit(const ir::OpDef& op, Val value, Val x, const SelectWindowAttrs& a) {
  return ir::Builder::current().emit(op, ir::make_attr(a), {value, x});
}
void check_operands(InferContext& c) {
  if (c.in.size() != 2) c.fail("TL-ARITY-001", "takes values and the array to select from");
  for (Type t : c.in) {
    if (t.encoding()) c.fail(kDTypeError, "does not accept quantized values", "dequantize first");
    if (is_complex(t.dtype())) c.fail(kDTypeError, "complex numbers have no order");
  }
  if (c.in[0].dtype() == DType::boolean) c.fail(kDTypeError, "the values must be numbers");
  if (c.in[0].rank() != c.in[1].rank()) c.fail("TL-RANK-001", "ranks differ");
}
void require_shape(InferContext& c, std::span<const Dim> wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    c.require_equal(c.in[0].dim(static_cast<int>(i)), wanted[i], "axis " + std::to_string(i));
  }
}
/// found(window, offset of the winner or -1).
template <class F>
void each_winner(const EvalContext& c, const HostArray& x, const Extents& windows, const F& found) {
  const auto& a = c.as<SelectWindowAttrs>();
  const WindowVisitor walk(c, a.window, x.extents(), windows);
  dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
    const T* in = static_cast<const T*>(x.data());
    std::int64_t best = -1;
    auto wins = [&](std::int64_t at) {
      if (best < 0) return true;
      const auto v = Storage<T>::load(in[at]), b = Storage<T>::load(in[best]);
      return v != v || (b == b && (a.largest ? v > b : v < b));
    };
    walk.each([&](std::int64_t) { best = -1; },
              [&](std::int64_t at) { best = wins(at) ? at : best; },
              [&](std::int64_t i) { found(i, best); });
  });
}

}  // namespace

void SelectWindow::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  if (dx[0]) dy[0] = emit(*c.op, dx[0], c.in[1], c.as<SelectWindowAttrs>());
}
void SelectWindow::batch(const Call& c, BatchContext& ctx) {
  SelectWindowAttrs a = c.as<SelectWindowAttrs>();
  require_same_windows(c, ctx, a.window, c.in_types[1]);
  a.window = with_lane_axis(std::move(a.window));
  const auto never_wins = a.largest ? ir::Identity::lowest : ir::Identity::highest;
  // What windows beyond a lane's own have to scatter is padding too, and may lie within its x.
  Val value = ctx.lifted(0);
  if (c.op == &rows::SelectAndScatter) value = masked(value, ctx, ir::Identity::zero);
  ctx.set(0, emit(*c.op, value, masked(ctx.lifted(1), ctx, never_wins), a));
}

void SelectAndGather::infer(InferContext& c) {
  check_operands(c);
  const auto shape = infer_windows(c, c.in[1], c.as<SelectWindowAttrs>().window);
  require_shape(c, c.in[1].shape());
  c.out.push_back(Type::get(c.in[0].dtype(), shape));
}
void SelectAndGather::eval(EvalContext& c) {
  const HostArray value = c.take(0), x = c.take(1);
  HostArray y = c.make();
  dispatch(y.dtype(), [&]<class T>(TypeTag<T>) {
    const T* in = static_cast<const T*>(value.data());
    T* out = static_cast<T*>(y.mutable_data());
    each_winner(c, x, y.extents(),
                [&](std::int64_t i, std::int64_t at) { out[i] = at < 0 ? T{} : in[at]; });
  });
  c.out.push_back(std::move(y));
}
void SelectAndGather::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  sink.add(0, emit(rows::SelectAndScatter, ct[0], c.in[1], c.as<SelectWindowAttrs>()));
}

void SelectAndScatter::infer(InferContext& c) {
  check_operands(c);
  require_shape(c, infer_windows(c, c.in[1], c.as<SelectWindowAttrs>().window));
  c.out.push_back(c.in[1].with_dtype(c.in[0].dtype()));
}
void SelectAndScatter::eval(EvalContext& c) {
  const HostArray value = c.take(0), x = c.take(1);
  HostArray y = c.make();
  dispatch(y.dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    if constexpr (!std::is_same_v<T, bool>) {
      const T* in = static_cast<const T*>(value.data());
      std::vector<C> sums(static_cast<std::size_t>(y.size()), C(0));
      each_winner(c, x, value.extents(), [&](std::int64_t i, std::int64_t at) {
        if (at < 0) return;
        C& sum = sums[static_cast<std::size_t>(at)];
        sum = Add::eval(sum, Storage<T>::load(in[i]));
      });
      std::ranges::transform(sums, static_cast<T*>(y.mutable_data()),
                             &Storage<T>::template store<C>);
    }
  });
  c.out.push_back(std::move(y));
}
void SelectAndScatter::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  sink.add(0, emit(rows::SelectAndGather, ct[0], c.in[1], c.as<SelectWindowAttrs>()));
}

TLALOC_ROW(ReduceWindow);
TLALOC_ROW(SelectAndGather);
TLALOC_ROW(SelectAndScatter);

Val reduce_window(Val x, Monoid monoid, Window window) {
  return ir::Builder::current().emit(
      rows::ReduceWindow, ir::make_attr(ReduceWindowAttrs{monoid, std::move(window)}), {x});
}
Val select_and_gather(Val values, Val x, Window window, bool largest) {
  return emit(rows::SelectAndGather, values, x, {largest, std::move(window)});
}
Val select_and_scatter(Val values, Val x, Window window, bool largest) {
  return emit(rows::SelectAndScatter, values, x, {largest, std::move(window)});
}

}  // namespace tlaloc::ops
