#include "tlaloc/ops/elementwise_power.h"

namespace tlaloc::ops {
namespace {

Val is_zero(Val x) { return compare(Comparison::eq, x, zeros_like(x)); }
/// dx where p, else exactly 0.
Val where(Val p, Val dx) { return select(p, dx, zeros_like(dx)); }

}  // namespace

// ---- pow ----

Val Pow::simplify(const Call& c) { return is_scalar_value(c.in[1], 1) ? c.in[0] : Val{}; }
Val Pow::jvp_x(Val x, Val y, Val, Val dx) {
  const Val slope = y * pow(x, y - 1);
  return dx * select(logical_and(is_zero(x), is_zero(y)), zeros_like(x), slope);
}
Val Pow::jvp_y(Val x, Val, Val z, Val dy) {
  // x^y log x tends to 0 with x: leave out the infinite factor.
  return dy * (log(select(is_zero(x), ones(x.type()), x)) * z);
}

// ---- integer_pow ----

void IntegerPow::infer(InferContext& c) {
  Unary::check_operand(c);
  const DType t = c.in[0].dtype();
  const std::int64_t n = c.as<IntegerPowAttrs>().exponent;
  if (!is_float(t) && !is_integer(t)) c.fail(kDTypeError, "takes numbers");
  if (n < 0 && is_integer(t)) {
    c.fail(kDTypeError, "an integer has no negative power", "convert the operand to a float first");
  }
  if (n < -(std::int64_t{1} << 31) || n > (std::int64_t{1} << 31)) {
    c.fail(kAttrError, "the exponent must lie within 2^31", "use pow");
  }
  c.out.push_back(c.in[0]);
}
void IntegerPow::eval(EvalContext& c) {
  const std::int64_t n = c.as<IntegerPowAttrs>().exponent;
  map_elements(c, [n](Number auto x) {
    const auto p = integer_power(x, static_cast<std::uint64_t>(n < 0 ? -n : n));
    if constexpr (std::floating_point<decltype(x)>)
      return n < 0 ? 1 / p : p;
    else
      return p;
  });
}
Val IntegerPow::simplify(const Call& c) {
  const std::int64_t n = c.as<IntegerPowAttrs>().exponent;
  return n == 0 ? ones(c.out_types[0]) : n == 1 ? c.in[0] : Val{};
}
void IntegerPow::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const std::int64_t n = c.as<IntegerPowAttrs>().exponent;
  dy[0] = dx[0] * (static_cast<double>(n) * integer_pow(c.in[0], n - 1));
}
void IntegerPow::batch(const Call& c, BatchContext& ctx) {
  Unary::emit_batched(c, ctx, {ctx.lifted(0)});
}

// ---- clamp ----

void Clamp::infer(InferContext& c) {
  if (c.in.size() != 3) c.fail("TL-ARITY-001", "takes a lower bound, a value and an upper bound");
  const Type lo = c.in[0], x = c.in[1], hi = c.in[2];
  if (is_complex(x.dtype())) c.fail(kDTypeError, "complex numbers have no order");
  for (Type t : {lo, x, hi}) {
    if (t.encoding()) c.fail(kDTypeError, "does not accept quantized values", "dequantize first");
    if (t.dtype() != x.dtype()) c.fail("TL-DTYPE-001", "dtypes differ", "convert the bounds");
    if (t.rank() == 0) continue;
    if (t.rank() != x.rank()) {
      c.fail("TL-RANK-001", "a bound has the value's rank or none", "broadcast the bound");
    }
    for (int i = 0; i < x.rank(); ++i) {
      c.require_equal(t.dim(i), x.dim(i), "axis " + std::to_string(i));
    }
  }
  c.out.push_back(x);
}
void Clamp::eval(EvalContext& c) {
  const HostArray lo = c.take(0), hi = c.take(2);
  HostArray x = c.take(1);
  dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
    const auto l = lo.as<T>(), h = hi.as<T>();
    const std::size_t l_step = lo.rank() != 0, h_step = hi.rank() != 0;
    auto y = x.as_mutable<T>();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto least = Max::eval(Storage<T>::load(y[i]), Storage<T>::load(l[i * l_step]));
      y[i] = Storage<T>::store(Min::eval(least, Storage<T>::load(h[i * h_step])));
    }
  });
  c.out.push_back(std::move(x));
}
void Clamp::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const Val x = c.in[1];
  auto wide = [&](Val v) { return v.rank() == x.rank() ? v : broadcast_in_dim(v, x.shape(), {}); };
  const Val lo = wide(c.in[0]), hi = wide(c.in[2]);
  if (dx[0]) dy[0] = where(logical_and(lo > x, lo < hi), wide(dx[0]));
  if (dx[1]) dy[0] = Binary::add_tangents(dy[0], where(logical_and(x > lo, x < hi), dx[1]));
  if (dx[2]) dy[0] = Binary::add_tangents(dy[0], where(max(x, lo) > hi, wide(dx[2])));
}
void Clamp::batch(const Call& c, BatchContext& ctx) {
  const Val x = ctx.lifted(1);
  auto bound = [&](int k) {
    const auto i = static_cast<std::size_t>(k);
    if (c.in_types[i].rank() == c.in_types[1].rank()) return ctx.lifted(k);
    return ctx.batched(k)
               ? broadcast_in_dim(ctx.lifted(k), x.shape(), std::array<std::int64_t, 1>{0})
               : c.in[i];
  };
  Unary::emit_batched(c, ctx, {bound(0), x, bound(2)});
}

TLALOC_ROW(Rem);
TLALOC_ROW(Pow);
TLALOC_ROW(IntegerPow);
TLALOC_ROW(Atan2);
TLALOC_ROW(Clamp);

TLALOC_BINARY(rem, Rem)
TLALOC_BINARY(pow, Pow)
TLALOC_BINARY(atan2, Atan2)

Val integer_pow(Val x, std::int64_t exponent) {
  return ir::Builder::current().emit(rows::IntegerPow, ir::make_attr(IntegerPowAttrs{exponent}),
                                     {x});
}
Val clamp(Val lo, Val x, Val hi) {
  return ir::Builder::current().emit(rows::Clamp, nullptr, {lo, x, hi});
}

}  // namespace tlaloc::ops
