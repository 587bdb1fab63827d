// Elementwise functions of floating operands.
#include "tlaloc/cxx/helpers.h"
#include "tlaloc/cxx/rules.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/ops/elementwise_bits.h"
#include "tlaloc/ops/elementwise_power.h"

namespace tlaloc::cxx {
namespace {

struct Name {
  const ir::OpDef* op;
  const char* function;
};
namespace rows = ops::rows;
constexpr Name kNames[] = {
    {&rows::Exp, "std::exp"},
    {&rows::Expm1, "std::expm1"},
    {&rows::Log, "std::log"},
    {&rows::Log1p, "std::log1p"},
    {&rows::Sqrt, "std::sqrt"},
    {&rows::Cbrt, "std::cbrt"},
    {&rows::Tanh, "std::tanh"},
    {&rows::Sin, "std::sin"},
    {&rows::Cos, "std::cos"},
    {&rows::Ceil, "std::ceil"},
    {&rows::Floor, "std::floor"},
    {&rows::Round, "std::round"},
    {&rows::Tan, "std::tan"},
    {&rows::Asin, "std::asin"},
    {&rows::Acos, "std::acos"},
    {&rows::Atan, "std::atan"},
    {&rows::Sinh, "std::sinh"},
    {&rows::Cosh, "std::cosh"},
    {&rows::Asinh, "std::asinh"},
    {&rows::Acosh, "std::acosh"},
    {&rows::Atanh, "std::atanh"},
    {&rows::Erf, "std::erf"},
    {&rows::Erfc, "std::erfc"},
    {&rows::IsFinite, "std::isfinite"},
    // Halves to even is the default rounding mode.
    {&rows::RoundEven, "std::nearbyint"},
};

ExprRef print_named(ElementCall& c) {
  for (const Name& n : kNames) {
    if (n.op == &c.node.op()) return call(n.function, {c.in[0]});
  }
  throw InternalError(std::string("no name for ") + c.node.op().name);
}
ExprRef print_rsqrt(ElementCall& c) {
  const ExprRef one = literal(c.dtype == DType::f32 ? "1.0f" : "1.0");
  return infix(Level::multiplicative, "/", one, call("std::sqrt", {c.in[0]}));
}
ExprRef print_logistic(ElementCall& c) {
  c.needs.helper(Helper::logistic);
  return call(name_of(Helper::logistic), {c.in[0]});
}

ExprRef print_erf_inv(ElementCall& c) {
  c.needs.helper(Helper::erf_inv);
  return call(name_of(Helper::erf_inv), {c.in[0]});
}
ExprRef print_atan2(ElementCall& c) { return call("std::atan2", {c.in[0], c.in[1]}); }
ExprRef print_reduce_precision(ElementCall& c) {
  const auto& a = c.node.as<ops::ReducePrecisionAttrs>();
  c.needs.helper(Helper::reduce_precision);
  return call(name_of(Helper::reduce_precision),
              {c.in[0], integer(a.exponent_bits), integer(a.mantissa_bits)});
}
ExprRef print_integer_pow(ElementCall& c) {
  const std::int64_t n = c.node.as<ops::IntegerPowAttrs>().exponent;
  const std::int64_t size = n < 0 ? -n : n;
  const ExprRef& x = c.in[0];
  ExprRef p;
  if (size == 1) {
    p = x;
  } else if (size == 2 && is_float(c.dtype)) {
    p = multiply(x, x);
  } else {
    c.needs.helper(Helper::integer_power);
    p = call(name_of(Helper::integer_power), {x, integer(size)});
  }
  if (n > 0 || is_integer(c.dtype)) return p;
  return infix(Level::multiplicative, "/", literal(c.dtype == DType::f32 ? "1.0f" : "1.0"), p);
}

std::vector<Rule> make_rules() {
  std::vector<Rule> r;
  auto put = [&](const ir::OpDef& op, ElementFn fn) {
    r.push_back({.op = &op, .element = fn, .reads = Reads::elementwise});
  };
  for (const Name& n : kNames) put(*n.op, print_named);
  put(rows::Rsqrt, print_rsqrt);
  put(rows::Logistic, print_logistic);
  put(rows::ErfInv, print_erf_inv);
  put(rows::Atan2, print_atan2);
  put(rows::ReducePrecision, print_reduce_precision);
  put(rows::IntegerPow, print_integer_pow);
  return r;
}

}  // namespace

std::span<const Rule> math_rules() {
  static const std::vector<Rule> rules = make_rules();
  return rules;
}

}  // namespace tlaloc::cxx
