// Remainders, integer powers, bits and shifts.
#include "tlaloc/cxx/helpers.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/rules.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/ops/elementwise_bits.h"

namespace tlaloc::cxx {
namespace {

std::string unsigned_type(DType t) {
  const std::string name = type_name(t);
  return is_unsigned_integer(t) ? name : "std::u" + name.substr(5);
}
ExprRef cast(const std::string& type, ExprRef e) { return call("static_cast<" + type + ">", {e}); }

ExprRef help(ElementCall& c, Helper h) {
  c.needs.helper(h);
  std::string name = name_of(h);
  if (c.in[0]->integer || is_literal(*c.in[0])) name += "<" + type_name(c.dtype) + ">";
  return call(name, {c.in.begin(), c.in.end()});
}

ExprRef print_rem(ElementCall& c) {
  if (is_float(c.dtype)) {
    return call("std::fmod", {c.in[0], c.in[1]});
  }
  const Range& d = c.ranges[1];
  if (!d.at_least(1)) return help(c, Helper::remainder);
  if (c.ranges[0].at_least(0)) {
    c.range.low = 0;
    c.range.low_dim = ir::Dim(0);
    if (d.high < std::numeric_limits<std::int64_t>::max()) c.range.high = d.high - 1;
    if (d.high_dim) c.range.high_dim = *d.high_dim - 1;
  }
  return infix(Level::multiplicative, "%", c.in[0], c.in[1]);
}
ExprRef print_pow(ElementCall& c) {
  if (is_integer(c.dtype)) return help(c, Helper::power);
  return call("std::pow", {c.in[0], c.in[1]});
}
ExprRef print_xor(ElementCall& c) {
  if (c.dtype == DType::boolean) return compare("!=", c.in[0], c.in[1]);
  return infix(Level::bit_xor, "^", c.in[0], c.in[1]);
}
ExprRef print_shift_left(ElementCall& c) { return help(c, Helper::shift_left); }
ExprRef print_shift_right_arithmetic(ElementCall& c) {
  return help(c, Helper::shift_right_arithmetic);
}
ExprRef print_shift_right_logical(ElementCall& c) { return help(c, Helper::shift_right_logical); }
ExprRef count(ElementCall& c, const char* function) {
  c.range.low = 0;
  c.range.high = bit_width(c.dtype);
  return cast(type_name(c.dtype), call(function, {cast(unsigned_type(c.dtype), c.in[0])}));
}
ExprRef print_popcnt(ElementCall& c) { return count(c, "std::popcount"); }
ExprRef print_clz(ElementCall& c) { return count(c, "std::countl_zero"); }

ExprRef print_bitcast(ElementCall& c) {
  if (byte_size(c.in_dtypes[0]) != byte_size(c.dtype)) {
    refuse_op(c.node.op(), "it cuts elements into parts", "bitcast between types of one width",
              c.node.origin());
  }
  return call("std::bit_cast<" + type_name(c.dtype) + ">", {c.in[0]});
}

namespace rows = ops::rows;
constexpr Rule elementwise(const ir::OpDef& op, ElementFn fn) {
  return {.op = &op, .element = fn, .reads = Reads::elementwise};
}
constexpr Rule kRules[] = {
    elementwise(rows::Rem, print_rem),
    elementwise(rows::Pow, print_pow),
    elementwise(rows::Xor, print_xor),
    elementwise(rows::ShiftLeft, print_shift_left),
    elementwise(rows::ShiftRightArithmetic, print_shift_right_arithmetic),
    elementwise(rows::ShiftRightLogical, print_shift_right_logical),
    elementwise(rows::Popcnt, print_popcnt),
    elementwise(rows::Clz, print_clz),
    elementwise(rows::BitcastConvert, print_bitcast),
};

}  // namespace

std::span<const Rule> bit_rules() { return kRules; }

}  // namespace tlaloc::cxx
