#include "tlaloc/ops/elementwise_arith.h"

#include "tlaloc/ops/convert_element.h"

namespace tlaloc::ops {
namespace {

// A linear operand is absent in a transposed call.
bool linear(const Call& c, std::size_t k) { return !c.in[k]; }

}  // namespace

// ---- exact rewrites ----

Val Neg::simplify(const Call& c) {
  ir::Builder& b = ir::Builder::current();
  return b.op_of(c.in[0]) == &rows::Neg ? b.operand_of(c.in[0], 0) : Val{};
}
Val Abs::simplify(const Call& c) {
  return is_unsigned_integer(c.out_types[0].dtype()) ? c.in[0] : Val{};
}
Val Add::simplify(const Call& c) {
  // x + 0.0 is not exact: it turns -0.0 into +0.0. Integers have no such zero.
  const double zero = is_float(c.out_types[0].dtype()) ? -0.0 : 0.0;
  if (is_scalar_value(c.in[1], zero)) return c.in[0];
  if (is_scalar_value(c.in[0], zero)) return c.in[1];
  return {};
}
Val Sub::simplify(const Call& c) { return is_scalar_value(c.in[1], 0.0) ? c.in[0] : Val{}; }
Val Mul::simplify(const Call& c) {
  if (is_scalar_value(c.in[1], 1)) return c.in[0];
  if (is_scalar_value(c.in[0], 1)) return c.in[1];
  return {};
}
Val Div::simplify(const Call& c) { return is_scalar_value(c.in[1], 1) ? c.in[0] : Val{}; }
Val Select::simplify(const Call& c) { return c.in[1] == c.in[2] ? c.in[1] : Val{}; }
Val Convert::simplify(const Call& c) {
  return c.in_types[0].dtype() == c.as<ConvertAttrs>().dtype ? c.in[0] : Val{};
}

// ---- transposes ----

void Add::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  if (linear(c, 0)) sink.add(0, ct[0]);
  if (linear(c, 1)) sink.add(1, ct[0]);
}
void Sub::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  if (linear(c, 0)) sink.add(0, ct[0]);
  if (linear(c, 1)) sink.add(1, neg(ct[0]));
}
void Mul::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  require_linear(c, c.in[0] || c.in[1], "a product of two linear values");
  if (linear(c, 0))
    sink.add(0, ct[0] * c.in[1]);
  else
    sink.add(1, c.in[0] * ct[0]);
}
void Div::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  require_linear(c, static_cast<bool>(c.in[1]), "a quotient is linear in its dividend only");
  sink.add(0, ct[0] / c.in[1]);
}

Val Max::jvp_x(Val x, Val y, Val z, Val dx) {
  // 1 where x alone is the result, 1/2 on a tie, 0 elsewhere and where the result is NaN.
  const Val share = select(compare(Comparison::eq, x, y), full(0.5, dx.type()), ones(dx.type()));
  return dx * select(compare(Comparison::eq, x, z), share, zeros(dx.type()));
}

// ---- compare ----

void Compare::infer(InferContext& c) {
  Binary::infer_same(c);
  c.out[0] = c.in[0].with_dtype(DType::boolean);
}
void Compare::eval(EvalContext& c) {
  HostArray out = c.make();
  bool* z = static_cast<bool*>(out.mutable_data());
  const std::int64_t n = out.size();
  dispatch(c.in[0].dtype(), [&]<class T>(TypeTag<T>) {
    const T* x = static_cast<const T*>(c.in[0].data());
    const T* y = static_cast<const T*>(c.in[1].data());
    auto run = [&](auto f) {
      for (std::int64_t i = 0; i < n; ++i) z[i] = f(Storage<T>::load(x[i]), Storage<T>::load(y[i]));
    };
    switch (c.as<CompareAttrs>().direction) {
      case Comparison::eq:
        run([](auto a, auto b) { return a == b; });
        break;
      case Comparison::ne:
        run([](auto a, auto b) { return a != b; });
        break;
      case Comparison::lt:
        run([](auto a, auto b) { return a < b; });
        break;
      case Comparison::le:
        run([](auto a, auto b) { return a <= b; });
        break;
      case Comparison::gt:
        run([](auto a, auto b) { return a > b; });
        break;
      case Comparison::ge:
        run([](auto a, auto b) { return a >= b; });
        break;
    }
  });
  c.out.push_back(std::move(out));
}
void Compare::batch(const Call& c, BatchContext& ctx) {
  Unary::emit_batched(c, ctx, {ctx.lifted(0), ctx.lifted(1)});
}

// ---- select ----

void Select::infer(InferContext& c) {
  if (c.in.size() != 3) c.fail("TL-ARITY-001", "takes a predicate and two values");
  const Type p = c.in[0], a = c.in[1], b = c.in[2];
  if (p.dtype() != DType::boolean) c.fail("TL-DTYPE-004", "the predicate must be bool");
  if (a.dtype() != b.dtype()) c.fail("TL-DTYPE-001", "dtypes differ", "convert one operand");
  if (p.rank() != a.rank() || a.rank() != b.rank()) {
    c.fail("TL-RANK-001", "ranks differ", "broadcast the operands");
  }
  for (int i = 0; i < a.rank(); ++i) {
    c.require_equal(a.dim(i), b.dim(i), "axis " + std::to_string(i));
    c.require_equal(p.dim(i), a.dim(i), "predicate axis " + std::to_string(i));
  }
  c.out.push_back(a);
}
void Select::eval(EvalContext& c) {
  HostArray a = c.take(1), b = c.take(2);
  const bool* p = static_cast<const bool*>(c.in[0].data());
  dispatch(a.dtype(), [&]<class T>(TypeTag<T>) {
    const T* x = static_cast<const T*>(a.data());
    const T* y = static_cast<const T*>(b.data());
    HostArray z = a.unique() ? std::move(a) : b.unique() ? std::move(b) : c.make();
    T* out = static_cast<T*>(z.mutable_data());
    for (std::int64_t i = 0, n = z.size(); i < n; ++i) out[i] = p[i] ? x[i] : y[i];
    c.out.push_back(std::move(z));
  });
}
void Select::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  auto tangent = [&](std::size_t k) { return dx[k] ? dx[k] : zeros_like(c.in[k]); };
  dy[0] = select(c.in[0], tangent(1), tangent(2));
}
void Select::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  const Val zero = zeros_like(ct[0]);
  if (linear(c, 1)) sink.add(1, select(c.in[0], ct[0], zero));
  if (linear(c, 2)) sink.add(2, select(c.in[0], zero, ct[0]));
}
void Select::batch(const Call& c, BatchContext& ctx) {
  Unary::emit_batched(c, ctx, {ctx.lifted(0), ctx.lifted(1), ctx.lifted(2)});
}

// ---- convert ----

void Convert::infer(InferContext& c) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  if (c.in[0].encoding()) c.fail("TL-DTYPE-004", "does not accept quantized values", "dequantize");
  c.out.push_back(c.in[0].with_dtype(c.as<ConvertAttrs>().dtype));
}
void Convert::eval(EvalContext& c) {
  HostArray y = c.make();
  dispatch(c.in[0].dtype(), [&]<class From>(TypeTag<From>) {
    const From* x = static_cast<const From*>(c.in[0].data());
    dispatch(y.dtype(), [&]<class To>(TypeTag<To>) {
      To* out = static_cast<To*>(y.mutable_data());
      for (std::int64_t i = 0, n = y.size(); i < n; ++i) out[i] = convert_element<To>(x[i]);
    });
  });
  c.out.push_back(std::move(y));
}
void Convert::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  // A tangent ends where an integer begins.
  if (is_differentiable(c.as<ConvertAttrs>().dtype))
    dy[0] = convert(dx[0], c.as<ConvertAttrs>().dtype);
}
void Convert::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  sink.add(0, convert(ct[0], c.in_types[0].dtype()));
}
void Convert::batch(const Call& c, BatchContext& ctx) {
  Unary::emit_batched(c, ctx, {ctx.lifted(0)});
}

TLALOC_ROW(Neg);
TLALOC_ROW(Abs);
TLALOC_ROW(Sign);
TLALOC_ROW(Add);
TLALOC_ROW(Sub);
TLALOC_ROW(Mul);
TLALOC_ROW(Div);
TLALOC_ROW(Max);
TLALOC_ROW(Min);
TLALOC_ROW(And);
TLALOC_ROW(Or);
TLALOC_ROW(Not);
TLALOC_ROW(Compare);
TLALOC_ROW(Select);
TLALOC_ROW(Convert);

// ---- the vocabulary ----

namespace {
Val emit(const ir::OpDef& op, std::initializer_list<Val> in, ir::AttrRef attr = nullptr) {
  return ir::Builder::current().emit(op, std::move(attr), in);
}
Val number_like(double value, Val like) { return scalar(value, like.dtype()); }
}  // namespace

TLALOC_UNARY(neg, Neg)
TLALOC_UNARY(abs, Abs)
TLALOC_UNARY(sign, Sign)
TLALOC_BINARY(add, Add)
TLALOC_BINARY(sub, Sub)
TLALOC_BINARY(mul, Mul)
TLALOC_BINARY(div, Div)
TLALOC_BINARY(max, Max)
TLALOC_BINARY(min, Min)
TLALOC_BINARY(logical_and, And)
TLALOC_BINARY(logical_or, Or)
TLALOC_UNARY(logical_not, Not)
Val compare(Comparison c, Val a, Val b) {
  match_ranks(a, b);
  return emit(rows::Compare, {a, b}, ir::make_attr(CompareAttrs{c}));
}
Val select(Val p, Val a, Val b) {
  match_ranks(a, b);
  if (p.rank() == 0 && a.rank() != 0) p = broadcast_in_dim(p, a.shape(), {});
  return emit(rows::Select, {p, a, b});
}
Val convert(Val x, DType dtype) {
  return emit(rows::Convert, {x}, ir::make_attr(ConvertAttrs{dtype}));
}

Val operator-(Val x) { return neg(x); }
Val operator+(Val a, Val b) { return add(a, b); }
Val operator-(Val a, Val b) { return sub(a, b); }
Val operator*(Val a, Val b) { return mul(a, b); }
Val operator/(Val a, Val b) { return div(a, b); }
Val operator+(Val a, double b) { return add(a, number_like(b, a)); }
Val operator+(double a, Val b) { return add(number_like(a, b), b); }
Val operator-(Val a, double b) { return sub(a, number_like(b, a)); }
Val operator-(double a, Val b) { return sub(number_like(a, b), b); }
Val operator*(Val a, double b) { return mul(a, number_like(b, a)); }
Val operator*(double a, Val b) { return mul(number_like(a, b), b); }
Val operator/(Val a, double b) { return div(a, number_like(b, a)); }
Val operator/(double a, Val b) { return div(number_like(a, b), b); }

}  // namespace tlaloc::ops
