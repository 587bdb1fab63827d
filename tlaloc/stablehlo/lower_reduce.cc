// Reductions along axes and over windows, running ones, and positions of extremes.
#include <algorithm>
#include <limits>
#include <numeric>

#include "tlaloc/ops/arg_reduce.h"
#include "tlaloc/ops/axes.h"
#include "tlaloc/ops/cumulative.h"
#include "tlaloc/ops/reduce.h"
#include "tlaloc/ops/reduce_general.h"
#include "tlaloc/ops/reduce_window.h"
#include "tlaloc/ops/scalar_graph.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo::lowering {
namespace {

struct Fold {
  const char* name;  ///< of the operation that combines two
  ir::Identity identity;
};
constexpr Fold kSum{"add", ir::Identity::zero}, kProduct{"multiply", ir::Identity::one},
    kMaximum{"maximum", ir::Identity::lowest}, kMinimum{"minimum", ir::Identity::highest},
    kAll{"and", ir::Identity::all_ones}, kAny{"or", ir::Identity::zero};

HostArray identity_value(ir::Identity identity, DType dtype) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    using L = std::numeric_limits<C>;
    constexpr bool kFloat = std::is_floating_point_v<C>;
    C x{};
    switch (identity) {
      case ir::Identity::zero:
        break;
      case ir::Identity::one:
        x = C(1);
        break;
      case ir::Identity::lowest:
        x = kFloat ? -L::infinity() : L::lowest();
        break;
      case ir::Identity::highest:
        x = kFloat ? L::infinity() : L::max();
        break;
      case ir::Identity::all_ones:
        x = std::is_same_v<T, bool> ? C(1) : static_cast<C>(~std::uint64_t{0});
        break;
    }
    return HostArray::scalar<T>(static_cast<T>(x));
  });
}

bool picks_one(const Fold& fold) {
  return fold.identity == ir::Identity::lowest || fold.identity == ir::Identity::highest;
}
bool is_narrow(DType t) { return t == DType::f16 || t == DType::bf16; }
/// f16 and bf16 are added up and multiplied in f32.
Value widened(Emitter& e, const Value& x, const Fold& fold) {
  const bool rounds = fold.identity == ir::Identity::zero || fold.identity == ir::Identity::one;
  return rounds && is_narrow(x.type.dtype) ? e.convert(x, DType::f32) : x;
}
Region fold_region(Emitter& e, DType t, const char* name) {
  return {{{t, {}}, {t, {}}},
          [&e, name](const Values& v) -> Values { return {e.binary(name, v[0], v[1])}; }};
}

Values reduction(Emitter& e, const Op& op, const Fold& fold) {
  Value x = widened(e, op.in[0], fold);
  const Value start = e.constant(identity_value(fold.identity, x.type.dtype));
  // Elements behind the length of an axis are none.
  const ir::Type type = op.frame.graph.type(op.node.operand(0));
  for (std::int64_t axis : op.as<ops::ReduceAttrs>().axes) {
    const Size size = e.size(op.frame, type.dim(static_cast<int>(axis)), &op.node);
    if (!size.length) continue;
    const Value place = e.iota(x.type.with(DType::i64), axis);
    const Value inside = e.compare("LT", place, e.leading(*size.length, place.type));
    x = e.select(inside, x, e.leading(start, x.type));
  }
  const Value in[] = {x, start};
  const std::string axes = "dimensions = " + array_attr(op.as<ops::ReduceAttrs>().axes);
  auto fold_all = [&](std::span<const Value> of, const char* name) {
    const TensorType out = op.out[0].with(of[0].type.dtype);
    const Region region[] = {fold_region(e, of[0].type.dtype, name)};
    return e.op("stablehlo.reduce", of, std::span(&out, 1), axes, region)[0];
  };
  const Value y = fold_all(in, fold.name);
  if (!is_float(y.type.dtype) || !picks_one(fold)) return {e.convert(y, op.out[0].dtype)};
  // Vectorized code of some plugins loses NaN (PJRT 0.115).
  const Value any_nan[] = {e.compare("NE", x, x), e.splat(0, {DType::boolean, {}})};
  return {e.select(fold_all(any_nan, "or"),
                   e.splat(std::numeric_limits<double>::quiet_NaN(), y.type), y)};
}

/// By doubling: after step k each element holds the fold of the 2^k in front of it and itself.
Values running(Emitter& e, const Op& op, const Fold& fold,
               const std::function<Value(const Value&, const Value&)>& combine) {
  const auto& a = op.as<ops::CumulativeAttrs>();
  const DType stored = op.out[0].dtype;
  Value x = is_narrow(stored) ? e.convert(op.in[0], DType::f32) : op.in[0];
  const Value identity = e.constant(identity_value(fold.identity, x.type.dtype));
  const std::size_t axis = usize(a.axis);
  const std::int64_t n = x.type.extent(axis);
  auto shifted = [&](const Value& v, std::int64_t by) {
    Extents low(v.type.rank(), 0), high = low;
    const Extents none = low;
    (a.reverse ? high : low)[axis] = by;
    (a.reverse ? low : high)[axis] = -by;
    return e.pad(v, identity, low, high, none);
  };
  if (a.exclusive) x = shifted(x, 1);
  for (std::int64_t by = 1; by < n; by *= 2) x = combine(shifted(x, by), x);
  return {e.convert(x, stored)};
}
Values running(Emitter& e, const Op& op, const Fold& fold) {
  return running(e, op, fold,
                 [&](const Value& a, const Value& b) { return e.binary(fold.name, a, b); });
}

/// (value, position) pairs: the first of equals wins; of NaNs the first, or the last one. A
/// negative position is none and loses.
Region extreme_region(Emitter& e, DType value, DType position, bool largest, bool last_nan) {
  const TensorType v{value, {}}, p{position, {}};
  return {{v, p, v, p}, [&e, value, largest, last_nan, position](const Values& a) -> Values {
            const Value earlier = e.compare("LT", a[1], a[3]);
            Value first = e.compare(largest ? "GT" : "LT", a[0], a[2]);
            const Value tie = e.compare("EQ", a[0], a[2]);
            first = e.binary("or", first, e.binary("and", tie, earlier));
            if (is_float(value)) {
              const Value nan0 = e.compare("NE", a[0], a[0]), nan1 = e.compare("NE", a[2], a[2]);
              const Value both = last_nan ? e.compare("GT", a[1], a[3]) : earlier;
              first = e.select(e.binary("or", nan0, nan1),
                               e.select(e.binary("and", nan0, nan1), both, nan0), first);
            }
            if (is_signed_integer(position)) {
              const Value none = e.splat(0, a[1].type);
              first = e.select(e.compare("LT", a[1], none), e.splat(0, {DType::boolean, {}}),
                               e.binary("or", e.compare("LT", a[3], none), first));
            }
            return {e.select(first, a[0], a[2]), e.select(first, a[1], a[3])};
          }};
}
ir::Identity loser(bool largest) { return largest ? ir::Identity::lowest : ir::Identity::highest; }

Values position(Emitter& e, const Op& op, bool largest) {
  const auto& a = op.as<ops::ArgReduceAttrs>();
  const Value& x = op.in[0];
  const DType counter = DType::i64;
  const Value in[] = {x, e.iota(x.type.with(counter), a.axis),
                      e.constant(identity_value(loser(largest), x.type.dtype)), e.index(-1)};
  const TensorType out[] = {op.out[0].with(x.type.dtype), op.out[0].with(counter)};
  const Region region[] = {extreme_region(e, x.type.dtype, counter, largest, false)};
  const std::int64_t axes[] = {a.axis};
  const Values y = e.op("stablehlo.reduce", in, out, "dimensions = " + array_attr(axes), region);
  return {e.convert(y[1], op.out[0].dtype)};
}

std::string window_attrs(Emitter& e, const Op& op, const ops::Window& w) {
  const Extents low = e.extents(op, w.low), high = e.extents(op, w.high);
  std::string padding = "dense<[";
  for (std::size_t i = 0; i < low.size(); ++i) {
    const std::int64_t pair[] = {low[i], high[i]};
    padding += (i ? ", " : "") + list_text(pair);
  }
  padding += "]> : tensor<" + std::to_string(low.size()) + "x2xi64>";
  if (low.empty()) padding = "dense<> : tensor<0x2xi64>";
  return "window_dimensions = " + array_attr(e.extents(op, w.size)) +
         ", window_strides = " + array_attr(w.strides) +
         ", base_dilations = " + array_attr(w.base_dilation) +
         ", window_dilations = " + array_attr(w.window_dilation) + ", padding = " + padding;
}

/// Over a mesh XLA's partitioner ends the process at some windows of arrays that are cut (PJRT
/// 0.115: negative padding, dilations), and refuses pairs: these stay whole.
Value for_windows(Emitter& e, const Op& op, const ops::Window& w, const Value& x, bool pairs) {
  const auto plain = [](std::int64_t n) { return n == 1; };
  const bool usual = std::ranges::all_of(w.base_dilation, plain) &&
                     std::ranges::all_of(w.window_dilation, plain) &&
                     std::ranges::none_of(e.extents(op, w.low), [](auto n) { return n < 0; }) &&
                     std::ranges::none_of(e.extents(op, w.high), [](auto n) { return n < 0; });
  return usual && !pairs ? x : e.whole(op.node, x);
}

/// The position of each window's winner among x's elements in row-major order; -1 for none.
Value winners(Emitter& e, const Op& op, const Value& x, const TensorType& windows) {
  const auto& a = op.as<ops::SelectWindowAttrs>();
  const std::int64_t count = element_count(x.type.extents);
  const Value places = e.reshape(e.iota({DType::i64, {count}}, 0), x.type.extents);
  const Value in[] = {for_windows(e, op, a.window, x, true), places,
                      e.constant(identity_value(loser(a.largest), x.type.dtype)), e.index(-1)};
  const TensorType out[] = {windows.with(x.type.dtype), windows.with(DType::i64)};
  const Region region[] = {extreme_region(e, x.type.dtype, DType::i64, a.largest, true)};
  return e.op("stablehlo.reduce_window", in, out, window_attrs(e, op, a.window), region)[1];
}

}  // namespace

Values ReduceSum(Emitter& e, const Op& op) { return reduction(e, op, kSum); }
Values ReduceProd(Emitter& e, const Op& op) { return reduction(e, op, kProduct); }
Values ReduceMax(Emitter& e, const Op& op) { return reduction(e, op, kMaximum); }
Values ReduceMin(Emitter& e, const Op& op) { return reduction(e, op, kMinimum); }
Values ReduceAnd(Emitter& e, const Op& op) { return reduction(e, op, kAll); }
Values ReduceOr(Emitter& e, const Op& op) { return reduction(e, op, kAny); }

Values ArgMax(Emitter& e, const Op& op) { return position(e, op, true); }
Values ArgMin(Emitter& e, const Op& op) { return position(e, op, false); }

Values CumSum(Emitter& e, const Op& op) { return running(e, op, kSum); }
Values CumProd(Emitter& e, const Op& op) { return running(e, op, kProduct); }
Values CumMax(Emitter& e, const Op& op) { return running(e, op, kMaximum); }
Values CumMin(Emitter& e, const Op& op) { return running(e, op, kMinimum); }
Values CumLogSumExp(Emitter& e, const Op& op) {
  return running(e, op, kMaximum, [&](const Value& a, const Value& b) {
    const Value in[] = {a, b};
    return e.decompose(in, [](const ir::Vals& v) -> ir::Vals {
      using namespace ops;  // NOLINT: the vocabulary of rules
      const Val high = max(v[0], v[1]), low = min(v[0], v[1]);
      const Val infinite = compare(Comparison::eq, abs(high),
                                   full(std::numeric_limits<double>::infinity(), high.type()));
      return {select(infinite, high, high + log1p(exp(low - high)))};
    })[0];
  });
}

/// Any reducer: step by step in its order, on all results at once.
Values Reduce(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::FoldAttrs>();
  const std::size_t count = op.in.size() / 2;
  const Extents& extents = op.in[0].type.extents;
  const auto rank = static_cast<std::int64_t>(extents.size());
  ops::AxisList order = a.axes;
  for (std::int64_t i : ops::other_axes(static_cast<int>(rank), a.axes)) order.push_back(i);
  std::int64_t steps = 1;
  for (std::int64_t axis : a.axes) steps *= extents[usize(axis)];
  Values state{e.index(0)}, rows;
  for (std::size_t k = 0; k < count; ++k) {
    TensorType moved = op.in[k].type;
    for (std::size_t i = 0; i < order.size(); ++i) moved.extents[i] = extents[usize(order[i])];
    const Value x =
        e.op("stablehlo.transpose", {op.in[k]}, moved, "permutation = " + array_attr(order));
    Extents flat = op.out[k].extents;
    flat.insert(flat.begin(), steps);
    rows.push_back(e.reshape(x, std::move(flat)));
    state.push_back(e.leading(op.in[count + k], op.out[k]));
  }
  if (steps == 0) return {state.begin() + 1, state.end()};
  std::vector<TensorType> types;
  for (const Value& v : state) types.push_back(v.type);
  const Region regions[] = {
      {types, [&](const Values& s) -> Values { return {e.compare("LT", s[0], e.index(steps))}; }},
      {types, [&](const Values& s) {
         Values in(s.begin() + 1, s.end());
         for (const Value& x : rows) in.push_back(e.row(x, s[0]));
         Values next{e.binary("add", s[0], e.index(1))};
         for (Value& v : e.decompose(in, [&](const ir::Vals& args) {
                return ops::emit_scalar_graph(*a.reducer.graph, args);
              })) {
           next.push_back(std::move(v));
         }
         return next;
       }}};
  const Values out = e.op("stablehlo.while", state, types, {}, regions);
  return {out.begin() + 1, out.end()};
}

Values ReduceWindow(Emitter& e, const Op& op) {
  // In the order of Monoid.
  constexpr Fold kFolds[] = {kSum, kProduct, kMaximum, kMinimum, kAll, kAny};
  const auto& a = op.as<ops::ReduceWindowAttrs>();
  const Fold& fold = kFolds[static_cast<std::size_t>(a.monoid)];
  const Value x = for_windows(e, op, a.window, widened(e, op.in[0], fold), false);
  const Value in[] = {x, e.constant(identity_value(fold.identity, x.type.dtype))};
  const TensorType out = op.out[0].with(x.type.dtype);
  const Region region[] = {fold_region(e, x.type.dtype, fold.name)};
  const Values y = e.op("stablehlo.reduce_window", in, std::span(&out, 1),
                        window_attrs(e, op, a.window), region);
  return {e.convert(y[0], op.out[0].dtype)};
}

Values SelectAndGather(Emitter& e, const Op& op) {
  if (op.in[0].type.empty()) return {e.splat(0, op.out[0])};
  const Value places = winners(e, op, op.in[1], op.out[0]);
  const std::int64_t count = element_count(op.in[0].type.extents);
  const Value in[] = {e.reshape(op.in[0], {count}), places};
  return {e.decompose(in, [](const ir::Vals& v) -> ir::Vals {
    using namespace ops;  // NOLINT: the vocabulary of rules
    const Val none = v[1] < zeros_like(v[1]);
    const Val taken = take(v[0], v[1], 0);
    return {select(none, zeros_like(taken), taken)};
  })[0]};
}

Values SelectAndScatter(Emitter& e, const Op& op) {
  const Value places = winners(e, op, op.in[1], op.in[0].type);
  const Value in[] = {op.in[0], places};
  const std::int64_t count = element_count(op.out[0].extents);
  const Value flat = e.decompose(in, [&](const ir::Vals& v) -> ir::Vals {
    const ir::Val zeros = ops::zeros(ir::Type::get(v[0].dtype(), {ir::Dim(count)}));
    return {ops::scatter_at(zeros, v[1], v[0], 0, ops::Update::add, ops::OutOfBounds::fill)};
  })[0];
  return {e.reshape(flat, op.out[0].extents)};
}

}  // namespace tlaloc::stablehlo::lowering
