// Elementwise functions of one floating operand.
#include "tlaloc/cxx/helpers.h"
#include "tlaloc/cxx/rules.h"
#include "tlaloc/cxx/types.h"

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
    // Halves to even is the default rounding mode.
    {&rows::RoundEven, "std::nearbyint"},
};

ExprRef print_named(ElementCall& c) {
  c.needs.header("cmath");
  for (const Name& n : kNames) {
    if (n.op == &c.node.op()) return call(n.function, {c.in[0]});
  }
  throw InternalError(std::string("no name for ") + c.node.op().name);
}
ExprRef print_rsqrt(ElementCall& c) {
  c.needs.header("cmath");
  const ExprRef one = literal(c.dtype == DType::f32 ? "1.0f" : "1.0");
  return infix(Level::multiplicative, "/", one, call("std::sqrt", {c.in[0]}));
}
ExprRef print_logistic(ElementCall& c) {
  c.needs.helper(Helper::logistic);
  return call(name_of(Helper::logistic), {c.in[0]});
}

std::vector<Rule> make_rules() {
  std::vector<Rule> r;
  auto put = [&](const ir::OpDef& op, ElementFn fn) {
    r.push_back({.op = &op, .element = fn, .reads = Reads::elementwise});
  };
  for (const Name& n : kNames) put(*n.op, print_named);
  put(rows::Rsqrt, print_rsqrt);
  put(rows::Logistic, print_logistic);
  return r;
}

}  // namespace

std::span<const Rule> math_rules() {
  static const std::vector<Rule> rules = make_rules();
  return rules;
}

}  // namespace tlaloc::cxx
