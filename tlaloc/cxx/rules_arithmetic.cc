// Arithmetic, logic, comparison, selection and conversion.
#include "tlaloc/cxx/helpers.h"
#include "tlaloc/cxx/rules.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/ops/elementwise_arith.h"

namespace tlaloc::cxx {
namespace {

using ops::Comparison;

bool narrow(DType t) { return is_integer(t) && byte_size(t) < 4; }
/// Overflow of these is defined, and happens in the type itself.
bool wraps(DType t) { return is_unsigned_integer(t) && byte_size(t) >= 4; }

ExprRef help(ElementCall& c, Helper h) {
  c.needs.helper(h);
  // A literal in front would decide the helper's type.
  std::string name = name_of(h);
  if (c.in[0]->integer) name += "<" + type_name(c.dtype) + ">";
  return call(name, {c.in.begin(), c.in.end()});
}

using RangeFn = std::optional<Range> (*)(const Range&, const Range&, DType);
ExprRef arithmetic(ElementCall& c, Level level, const char* op, RangeFn range, Helper helper) {
  if (is_integer(c.dtype)) {
    if (const auto r = range(c.ranges[0], c.ranges[1], c.dtype)) {
      c.range = *r;
    } else if (!wraps(c.dtype)) {
      return help(c, helper);
    }
  }
  return infix(level, op, c.in[0], c.in[1]);
}
ExprRef print_add(ElementCall& c) {
  return arithmetic(c, Level::additive, "+", sum, Helper::wrapping_add);
}
ExprRef print_sub(ElementCall& c) {
  return arithmetic(c, Level::additive, "-", difference, Helper::wrapping_sub);
}
ExprRef print_mul(ElementCall& c) {
  // Exactly a change of sign, as a product with -1 is.
  for (std::size_t k = 0; is_float(c.dtype) && k < 2; ++k) {
    const std::string& text = c.in[k]->text;
    if (is_literal(*c.in[k]) && (text == "-1.0" || text == "-1.0f")) {
      return prefix("-", c.in[1 - k]);
    }
  }
  return arithmetic(c, Level::multiplicative, "*", product, Helper::wrapping_mul);
}
ExprRef print_neg(ElementCall& c) {
  if (is_integer(c.dtype)) {
    const auto r = difference(Range::exactly(std::int64_t{0}), c.ranges[0], c.dtype);
    if (!r) return help(c, Helper::wrapping_neg);
    c.range = *r;
  }
  return prefix("-", c.in[0]);
}
ExprRef print_abs(ElementCall& c) {
  if (is_unsigned_integer(c.dtype)) return c.in[0];
  if (is_integer(c.dtype)) return help(c, Helper::wrapping_abs);
  return call("std::abs", {c.in[0]});
}
ExprRef print_sign(ElementCall& c) {
  c.range.low = std::max<std::int64_t>(c.range.low, -1);
  c.range.high = 1;
  return help(c, Helper::sign);
}
ExprRef print_div(ElementCall& c) {
  if (is_integer(c.dtype)) {
    const Range& d = c.ranges[1];
    const bool plain = d.at_least(1) || d.high < -1;
    if (!plain) return help(c, Helper::divide);
    if (d.at_least(1) && c.ranges[0].at_least(0)) {
      c.range = {0, c.ranges[0].high, ir::Dim(0), c.ranges[0].high_dim};
    }
  }
  return infix(Level::multiplicative, "/", c.in[0], c.in[1]);
}

ExprRef extremum(ElementCall& c, Helper helper, const char* function, const char* logic) {
  if (c.dtype == DType::boolean) {
    return infix(logic[0] == '|' ? Level::logical_or : Level::logical_and, logic, c.in[0], c.in[1]);
  }
  if (is_float(c.dtype)) return help(c, helper);
  c.range = united(c.ranges[0], c.ranges[1]);
  std::string name = function;
  if (is_literal(*c.in[0]) || is_literal(*c.in[1]) || narrow(c.dtype)) {
    name += "<" + type_name(c.dtype) + ">";
  }
  return call(name, {c.in[0], c.in[1]});
}
ExprRef print_max(ElementCall& c) { return extremum(c, Helper::maximum, "std::max", "||"); }
ExprRef print_min(ElementCall& c) { return extremum(c, Helper::minimum, "std::min", "&&"); }

ExprRef print_and(ElementCall& c) {
  if (c.dtype == DType::boolean) return logical_and(c.in[0], c.in[1]);
  return infix(Level::bit_and, "&", c.in[0], c.in[1]);
}
ExprRef print_or(ElementCall& c) {
  if (c.dtype == DType::boolean) return infix(Level::logical_or, "||", c.in[0], c.in[1]);
  return infix(Level::bit_or, "|", c.in[0], c.in[1]);
}
ExprRef print_not(ElementCall& c) {
  if (c.dtype == DType::boolean) return logical_not(c.in[0]);
  const ExprRef flipped = prefix("~", c.in[0]);
  // ~ works on int: the bits above the type must go.
  return narrow(c.dtype) ? call("static_cast<" + type_name(c.dtype) + ">", {flipped}) : flipped;
}

ExprRef print_compare(ElementCall& c) {
  switch (c.node.as<ops::CompareAttrs>().direction) {
    case Comparison::eq:
      return compare("==", c.in[0], c.in[1]);
    case Comparison::ne:
      return compare("!=", c.in[0], c.in[1]);
    case Comparison::lt:
      return compare("<", c.in[0], c.in[1]);
    case Comparison::le:
      return compare("<=", c.in[0], c.in[1]);
    case Comparison::gt:
      return compare(">", c.in[0], c.in[1]);
    case Comparison::ge:
      return compare(">=", c.in[0], c.in[1]);
  }
  throw InternalError("unknown comparison");
}
ExprRef print_select(ElementCall& c) {
  c.range = united(c.ranges[1], c.ranges[2]);
  return ternary(c.in[0], c.in[1], c.in[2]);
}

ExprRef print_convert(ElementCall& c) {
  const DType from = c.in_dtypes[0], to = c.dtype;
  const std::string type = type_name(to);
  if (to == DType::boolean) {
    const ExprRef zero = is_float(from) ? literal(from == DType::f32 ? "0.0f" : "0.0") : integer(0);
    return compare("!=", c.in[0], zero);
  }
  if (from == DType::boolean) {
    c.range.low = 0;
    c.range.high = 1;
    if (to == DType::f32) return ternary(c.in[0], literal("1.0f"), literal("0.0f"));
    if (to == DType::f64) return ternary(c.in[0], literal("1.0"), literal("0.0"));
    return ternary(c.in[0], integer(1), integer(0));
  }
  if (is_float(from) && is_integer(to)) {
    c.needs.helper(Helper::saturate_cast);
    return call(name_of(Helper::saturate_cast) + "<" + type + ">", {c.in[0]});
  }
  if (is_integer(from) && is_integer(to)) {
    const Range limits = Range::of(to), r = c.ranges[0];
    if (r.low >= limits.low && r.high <= limits.high) c.range = r;
  }
  return call("static_cast<" + type + ">", {c.in[0]});
}

namespace rows = ops::rows;
constexpr Rule elementwise(const ir::OpDef& op, ElementFn fn) {
  return {.op = &op, .element = fn, .reads = Reads::elementwise};
}
constexpr Rule kRules[] = {
    elementwise(rows::Add, print_add),         elementwise(rows::Sub, print_sub),
    elementwise(rows::Mul, print_mul),         elementwise(rows::Div, print_div),
    elementwise(rows::Neg, print_neg),         elementwise(rows::Abs, print_abs),
    elementwise(rows::Sign, print_sign),       elementwise(rows::Max, print_max),
    elementwise(rows::Min, print_min),         elementwise(rows::And, print_and),
    elementwise(rows::Or, print_or),           elementwise(rows::Not, print_not),
    elementwise(rows::Compare, print_compare), elementwise(rows::Select, print_select),
    elementwise(rows::Convert, print_convert),
};

}  // namespace

std::span<const Rule> arithmetic_rules() { return kRules; }

}  // namespace tlaloc::cxx
