#include "tlaloc/cpu/generate_sizes.h"

#include <fmt/format.h>

namespace tlaloc::cpu {
namespace {

using fmt::format;

/// Poison if there is no such number, or an operand is poison.
IrValue checked_op(IrWriter& w, const char* kind, const IrValue& a, const IrValue& b) {
  const std::string type = "{ i64, i1 }";
  const IrValue both =
      w.let(format("call {} @llvm.{}.with.overflow.i64(i64 {}, i64 {})", type, kind, a, b));
  IrValue bad = w.let(format("extractvalue {} {}, 1", type, both));
  for (const IrValue& operand : {a, b}) {
    if (is_number(operand)) continue;
    const IrValue poison = w.let(format("icmp eq i64 {}, {}", operand, kPoison));
    bad = w.let(format("or i1 {}, {}", bad, poison));
  }
  const IrValue r = w.let(format("extractvalue {} {}, 0", type, both));
  return w.let(format("select i1 {}, i64 {}, i64 {}", bad, kPoison, r));
}

/// Rounds down; poison by zero.
IrValue divide(IrWriter& w, bool quotient, const IrValue& a, const IrValue& b) {
  const IrValue zero = w.let(format("icmp eq i64 {}, 0", b));
  // The least integer has no quotient by -1, and the processor traps: the other way then.
  const IrValue minus = w.let(format("icmp eq i64 {}, -1", b));
  const IrValue either = w.let(format("or i1 {}, {}", zero, minus));
  const IrValue by = w.let(format("select i1 {}, i64 1, i64 {}", either, b));
  const IrValue plain = w.let(format("sdiv i64 {}, {}", a, by));
  const IrValue negative = w.let(format("sub i64 0, {}", a));
  const IrValue q = w.let(format("select i1 {}, i64 {}, i64 {}", minus, negative, plain));
  const IrValue rest = w.let(format("srem i64 {}, {}", a, by));
  const IrValue some = w.let(format("icmp ne i64 {}, 0", rest));
  const IrValue mixed = w.let(format("icmp slt i64 {}, 0", w.let(format("xor i64 {}, {}", a, b))));
  const IrValue down = w.let(format("and i1 {}, {}", some, mixed));
  const IrValue r =
      quotient ? w.let(format("sub i64 {}, {}", q, w.let(format("zext i1 {} to i64", down))))
               : w.let(format("select i1 {}, i64 {}, i64 {}", down,
                              w.let(format("add i64 {}, {}", rest, by)), rest));
  return w.let(format("select i1 {}, i64 {}, i64 {}", zero, kPoison, r));
}

}  // namespace

IrValue write_size_op(IrWriter& w, SizeOp::Kind kind, const IrValue& a, const IrValue& b,
                      bool checked) {
  if (checked && kind != SizeOp::Kind::add && kind != SizeOp::Kind::mul) {
    IrValue r = write_size_op(w, kind, a, b, false);
    for (const IrValue& operand : {a, b}) {
      if (is_number(operand)) continue;
      const IrValue poison = w.let(format("icmp eq i64 {}, {}", operand, kPoison));
      r = w.let(format("select i1 {}, i64 {}, i64 {}", poison, kPoison, r));
    }
    return r;
  }
  switch (kind) {
    case SizeOp::Kind::add:
      return checked ? checked_op(w, "sadd", a, b) : w.let(format("add i64 {}, {}", a, b));
    case SizeOp::Kind::mul:
      return checked ? checked_op(w, "smul", a, b) : w.let(format("mul i64 {}, {}", a, b));
    case SizeOp::Kind::min:
      return w.let(format("call i64 @llvm.smin.i64(i64 {}, i64 {})", a, b));
    case SizeOp::Kind::max:
      return w.let(format("call i64 @llvm.smax.i64(i64 {}, i64 {})", a, b));
    case SizeOp::Kind::floordiv:
    case SizeOp::Kind::mod:
      return divide(w, kind == SizeOp::Kind::floordiv, a, b);
  }
  return a;
}

}  // namespace tlaloc::cpu
