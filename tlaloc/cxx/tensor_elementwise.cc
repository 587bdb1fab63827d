// Elementwise ops in tensor mode: operators and functions of the public API.
#include "tlaloc/cxx/tensor_lowering.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/ops/constants.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/elementwise_power.h"

namespace tlaloc::cxx {
namespace {

using ir::Type;
using ops::Comparison;
namespace rows = ops::rows;

struct Name {
  const ir::OpDef* op;
  const char* function;
};
constexpr Name kFunctions[] = {
    {&rows::Abs, "tl::abs"},
    {&rows::Sign, "tl::sign"},
    {&rows::Ceil, "tl::ceil"},
    {&rows::Floor, "tl::floor"},
    {&rows::Round, "tl::round"},
    {&rows::RoundEven, "tl::round_even"},
    {&rows::Exp, "tl::exp"},
    {&rows::Expm1, "tl::expm1"},
    {&rows::Log, "tl::log"},
    {&rows::Log1p, "tl::log1p"},
    {&rows::Sqrt, "tl::sqrt"},
    {&rows::Rsqrt, "tl::rsqrt"},
    {&rows::Cbrt, "tl::cbrt"},
    {&rows::Logistic, "tl::sigmoid"},
    {&rows::Tanh, "tl::tanh"},
    {&rows::Sin, "tl::sin"},
    {&rows::Cos, "tl::cos"},
    {&rows::Tan, "tl::tan"},
    {&rows::Asin, "tl::asin"},
    {&rows::Acos, "tl::acos"},
    {&rows::Atan, "tl::atan"},
    {&rows::Sinh, "tl::sinh"},
    {&rows::Cosh, "tl::cosh"},
    {&rows::Asinh, "tl::asinh"},
    {&rows::Acosh, "tl::acosh"},
    {&rows::Atanh, "tl::atanh"},
    {&rows::Erf, "tl::erf"},
    {&rows::Erfc, "tl::erfc"},
    {&rows::ErfInv, "tl::erf_inv"},
    {&rows::IsFinite, "tl::is_finite"},
    {&rows::Popcnt, "tl::popcount"},
    {&rows::Clz, "tl::count_leading_zeros"},
    {&rows::Max, "tl::maximum"},
    {&rows::Min, "tl::minimum"},
    {&rows::Pow, "tl::pow"},
    {&rows::Atan2, "tl::atan2"},
    {&rows::ShiftLeft, "tl::shift_left"},
    {&rows::ShiftRightArithmetic, "tl::shift_right"},
    {&rows::ShiftRightLogical, "tl::shift_right_logical"},
    {&rows::Select, "tl::select"},
};
struct Operator {
  const ir::OpDef* op;
  Level level;
  const char* text;
};
constexpr Operator kOperators[] = {
    {&rows::Add, Level::additive, "+"},       {&rows::Sub, Level::additive, "-"},
    {&rows::Mul, Level::multiplicative, "*"}, {&rows::Div, Level::multiplicative, "/"},
    {&rows::Rem, Level::multiplicative, "%"}, {&rows::Xor, Level::bit_xor, "^"},
};

/// The result of an elementwise expression; `base` is the shape that its operands give it.
void put(TensorLowering& l, TensorCall& c, ExprRef e, Type base) {
  TensorValue v =
      l.named(Type::get(c.types[0].dtype(), base.shape()), std::move(e), c.node.origin());
  v.type = c.types[0];
  c.out.push_back(std::move(v));
}

void print_function(TensorLowering& l, TensorCall& c) {
  Type base = c.types[0];
  Exprs args = l.operands(c, base);
  for (const Name& n : kFunctions) {
    if (n.op == &c.node.op()) return put(l, c, call(n.function, std::move(args)), base);
  }
}
void print_operator(TensorLowering& l, TensorCall& c) {
  Type base = c.types[0];
  const Exprs args = l.operands(c, base);
  for (const Operator& o : kOperators) {
    if (o.op == &c.node.op()) return put(l, c, infix(o.level, o.text, args[0], args[1]), base);
  }
}
void print_logic(TensorLowering& l, TensorCall& c) {
  Type base = c.types[0];
  const Exprs args = l.operands(c, base);
  const bool both = &c.node.op() == &rows::And, logic = c.types[0].dtype() == DType::boolean;
  const Level level = logic ? (both ? Level::logical_and : Level::logical_or)
                            : (both ? Level::bit_and : Level::bit_or);
  const char* text = both ? (logic ? "&&" : "&") : (logic ? "||" : "|");
  put(l, c, infix(level, text, args[0], args[1]), base);
}
void print_neg(TensorLowering& l, TensorCall& c) {
  Type base = c.types[0];
  put(l, c, prefix("-", l.operands(c, base)[0]), base);
}
void print_not(TensorLowering& l, TensorCall& c) {
  Type base = c.types[0];
  const bool logic = c.types[0].dtype() == DType::boolean;
  put(l, c, prefix(logic ? "!" : "~", l.operands(c, base)[0]), base);
}
void print_compare(TensorLowering& l, TensorCall& c) {
  Type base = c.types[0];
  const Exprs args = l.operands(c, base);
  constexpr const char* kText[] = {"==", "!=", "<", "<=", ">", ">="};
  static_assert(static_cast<int>(Comparison::eq) == 0 && static_cast<int>(Comparison::ge) == 5);
  const auto which = static_cast<std::size_t>(c.node.as<ops::CompareAttrs>().direction);
  put(l, c, compare(kText[which], args[0], args[1]), base);
}
void print_convert(TensorLowering& l, TensorCall& c) {
  Type base = c.types[0];
  const Exprs args = l.operands(c, base);
  const std::string type = TensorLowering::tensor_type(Type::scalar(c.types[0].dtype()));
  // "tl::Scalar<float>" -> "float"
  put(l, c, call("tl::cast<" + type.substr(11, type.size() - 12) + ">", args), base);
}
void print_clamp(TensorLowering& l, TensorCall& c) {
  const ExprRef low = c.in[0].expr, x = l.full(c.in[1], c.node), high = c.in[2].expr;
  put(l, c, call("tl::clip", {x, low, high}), c.types[0]);
}
void print_integer_pow(TensorLowering& l, TensorCall& c) {
  const std::int64_t n = c.node.as<ops::IntegerPowAttrs>().exponent;
  Type base = c.types[0];
  const ExprRef x = l.operands(c, base)[0];
  // By repeated squaring, as the op computes.
  ExprRef power, square = x;
  for (std::int64_t k = n < 0 ? -n : n; k; k >>= 1) {
    if (k & 1) power = power ? multiply(power, square) : square;
    if (k > 1) {
      square =
          l.named(Type::get(c.types[0].dtype(), base.shape()), multiply(square, square), {}).expr;
    }
  }
  if (n < 0) {
    power = infix(Level::multiplicative, "/",
                  literal(c.types[0].dtype() == DType::f32 ? "1.0f" : "1.0"), power);
  }
  put(l, c, power, base);
}

// ---- values from nothing ----

bool all_equal(const HostArray& a) {
  for (std::int64_t i = 1; i < a.size(); ++i) {
    const auto step = static_cast<std::size_t>(byte_size(a.dtype()));
    const auto* bytes = static_cast<const unsigned char*>(a.data());
    if (!std::equal(bytes, bytes + step, bytes + static_cast<std::size_t>(i) * step)) return false;
  }
  return a.size() > 0;
}
void print_constant(TensorLowering& l, TensorCall& c) {
  const HostArray& value = c.node.as<ops::ConstantAttrs>().value.value;
  const Type type = c.types[0];
  if (type.rank() == 0 || all_equal(value)) {
    c.out.push_back(l.number(type, value));
    return;
  }
  Exprs elements;
  for (std::int64_t i = 0; i < value.size(); ++i) elements.push_back(element_literal(value, i));
  const std::string t = TensorLowering::tensor_type(type);
  c.out.push_back(
      l.named(type, call(t + "::from", {list("", std::move(elements))}), c.node.origin()));
}
void print_iota(TensorLowering& l, TensorCall& c) {
  const Type type = c.types[0];
  const auto axis = static_cast<int>(c.node.as<ops::IotaAttrs>().axis);
  const ir::Dim n = type.dim(axis);
  const std::string scalar = TensorLowering::tensor_type(Type::scalar(type.dtype()));
  std::string function = "tl::arange<" + TensorLowering::dim_text(n) + ", " +
                         scalar.substr(11, scalar.size() - 12) + ">";
  Exprs args;
  if (!n.is_constant()) {
    const ir::Dim shape[] = {n};
    args = {integer(0), integer(1), l.like(shape, c.node)};
  }
  // Where it is not the last axis, axes of size 1 put it into its place.
  ExprRef e = call(function, std::move(args));
  std::vector<ir::Dim> base{n};
  if (axis + 1 < type.rank()) {
    base.assign(static_cast<std::size_t>(type.rank()), 1);
    base[static_cast<std::size_t>(axis)] = n;
    for (int i = axis + 1; i < type.rank(); ++i) e = call("tl::expand<-1>", {e});
    for (int i = 0; i < axis; ++i) e = call("tl::expand<0>", {e});
  }
  const Type small = Type::get(type.dtype(), base);
  TensorValue v = l.named(small, e, c.node.origin());
  v.type = type;
  c.out.push_back(std::move(v));
}
void print_dim_value(TensorLowering& l, TensorCall& c) {
  const ir::Dim d = c.node.as<ops::DimValueAttrs>().dim.substitute(c.dims);
  const Type type = c.types[0];
  if (d.is_constant()) {
    c.out.push_back(l.number(type, HostArray::scalar(d.constant())));
    return;
  }
  const auto [value, axis] = l.sized(d, c.node);
  c.out.push_back(
      l.named(type, call("tl::axis_size<" + std::to_string(axis) + ">", {value}), c.node.origin()));
}
void print_same(TensorLowering&, TensorCall& c) {
  for (const TensorValue& v : c.in) c.out.push_back(v);
}

std::vector<TensorRow> make_rows() {
  std::vector<TensorRow> r;
  for (const Name& n : kFunctions) r.push_back({n.op, print_function});
  for (const Operator& o : kOperators) r.push_back({o.op, print_operator});
  r.push_back({&rows::And, print_logic});
  r.push_back({&rows::Or, print_logic});
  r.push_back({&rows::Neg, print_neg});
  r.push_back({&rows::Not, print_not});
  r.push_back({&rows::Compare, print_compare});
  r.push_back({&rows::Convert, print_convert});
  r.push_back({&rows::Clamp, print_clamp});
  r.push_back({&rows::IntegerPow, print_integer_pow});
  r.push_back({&rows::Constant, print_constant});
  r.push_back({&rows::Iota, print_iota});
  r.push_back({&rows::DimValue, print_dim_value});
  r.push_back({&rows::OptimizationBarrier, print_same});
  r.push_back({&rows::StopGradient, print_same});
  r.push_back({&rows::ShardingConstraint, print_same});
  return r;
}

}  // namespace

std::span<const TensorRow> tensor_elementwise_rules() {
  static const std::vector<TensorRow> rules = make_rows();
  return rules;
}

}  // namespace tlaloc::cxx
