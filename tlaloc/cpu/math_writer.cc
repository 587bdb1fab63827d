#include "tlaloc/cpu/math_writer.h"

#include <fmt/format.h>

namespace tlaloc::cpu {

using fmt::format;

MathWriter::MathWriter(IrWriter& w, DType t, int lanes)
    : w_(w),
      t_(t),
      lanes_(lanes),
      wide_(t == DType::f64),
      type_(ir_vector(ir_type(t), lanes)),
      bits_(ir_vector(wide_ ? "i64" : "i32", lanes)),
      flags_(ir_vector("i1", lanes)),
      suffix_(format("{}{}", lanes == 1 ? "" : format("v{}", lanes), wide_ ? "f64" : "f32")) {}

IrValue MathWriter::real(double x) const {
  return ir_real(t_, wide_ ? x : double{static_cast<float>(x)}, lanes_);
}
IrValue MathWriter::whole(std::int64_t x) const {
  return ir_splat(wide_ ? "i64" : "i32", std::to_string(x), lanes_);
}
IrValue MathWriter::binary(const char* op, const IrValue& a, const IrValue& b) const {
  return w_.let(format("{} {} {}, {}", op, type_, a, b));
}
IrValue MathWriter::neg(const IrValue& a) const { return w_.let("fneg " + type_ + " " + a); }
IrValue MathWriter::fma(const IrValue& a, const IrValue& b, const IrValue& c) const {
  return call("fmuladd", {a, b, c});
}
IrValue MathWriter::call(const char* intrinsic, std::initializer_list<IrValue> args) const {
  std::string text;
  for (const IrValue& a : args) text += (text.empty() ? "" : ", ") + type_ + " " + a;
  return w_.let(format("call {} @llvm.{}.{}({})", type_, intrinsic, suffix_, text));
}
IrValue MathWriter::compare(const char* how, const IrValue& a, const IrValue& b) const {
  return w_.let(format("fcmp {} {} {}, {}", how, type_, a, b));
}
IrValue MathWriter::choose(const IrValue& p, const IrValue& a, const IrValue& b) const {
  return w_.let(format("select {} {}, {} {}, {} {}", flags_, p, type_, a, type_, b));
}
IrValue MathWriter::at_least(const IrValue& x, const IrValue& low) const {
  return choose(compare("ogt", low, x), low, x);
}
IrValue MathWriter::at_most(const IrValue& x, const IrValue& high) const {
  return choose(compare("olt", high, x), high, x);
}
IrValue MathWriter::flags(const char* op, const IrValue& p, const IrValue& q) const {
  return w_.let(format("{} {} {}, {}", op, flags_, p, q));
}

MathWriter::Widened MathWriter::widened() const { return {{w_, DType::f64, lanes_}, *this}; }
IrValue MathWriter::Widened::widen(const IrValue& x) const {
  return of.w_.let(format("fpext {} {} to {}", of.type_, x, writer.type_));
}
IrValue MathWriter::Widened::narrow(const IrValue& x) const {
  return of.w_.let(format("fptrunc {} {} to {}", writer.type_, x, of.type_));
}

IrValue MathWriter::pattern(const IrValue& x) const {
  return w_.let(format("bitcast {} {} to {}", type_, x, bits_));
}
IrValue MathWriter::from_pattern(const IrValue& x) const {
  return w_.let(format("bitcast {} {} to {}", bits_, x, type_));
}
IrValue MathWriter::integer(const char* op, const IrValue& a, const IrValue& b) const {
  return w_.let(format("{} {} {}, {}", op, bits_, a, b));
}
IrValue MathWriter::smaller(const IrValue& a, const IrValue& b) const {
  return w_.let(format(
      "call {0} @llvm.smin.{1}({0} {2}, {0} {3})", bits_,
      format("{}{}", lanes_ == 1 ? "" : format("v{}", lanes_), wide_ ? "i64" : "i32"), a, b));
}
IrValue MathWriter::upper(const IrValue& x) const {
  return from_pattern(integer("and", pattern(x), whole(-(std::int64_t{1} << 27), -(1 << 12))));
}
IrValue MathWriter::power_of_two(const IrValue& n) const {
  return from_pattern(integer("shl", integer("add", n, whole(1023, 127)), whole(52, 23)));
}
IrValue MathWriter::scaled(const IrValue& x, const IrValue& n) const {
  // Two factors, each of which is a normal number; the last one rounds to a subnormal.
  const IrValue half = integer("ashr", n, whole(1));
  const IrValue rest = integer("sub", n, half);
  return mul(mul(x, power_of_two(half)), power_of_two(rest));
}

MathWriter::Nearest MathWriter::nearest(const IrValue& a, const IrValue& b) const {
  // Adding 1.5 * 2^(mantissa bits) rounds to an integer, which the low bits then hold.
  const IrValue magic = real(0x1.8p52, 0x1.8p23);
  const IrValue shifted = fma(a, b, magic);
  return {sub(shifted, magic), integer("sub", pattern(shifted), pattern(magic))};
}
MathWriter::Split MathWriter::split(const IrValue& x) const {
  // The exponent is counted from sqrt(1/2): the difference of the patterns carries over.
  const IrValue bits = pattern(x), mantissa = whole(52, 23);
  const IrValue above = integer("sub", bits, whole(0x3fe6a09e667f3bcd, 0x3f3504f3));
  const IrValue e = integer("ashr", above, mantissa);
  const IrValue shifted = integer("shl", e, mantissa);
  return {from_pattern(integer("sub", bits, shifted)), e, shifted};
}
IrValue MathWriter::real_of(const IrValue& n) const {
  if (!wide_) return w_.let(format("sitofp {} {} to {}", bits_, n, type_));
  // Not every processor converts vectors of i64.
  const IrValue magic = real(0x1.8p52);
  return sub(from_pattern(integer("add", n, pattern(magic))), magic);
}

}  // namespace tlaloc::cpu
