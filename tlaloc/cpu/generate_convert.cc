#include "tlaloc/cpu/generate_convert.h"

#include <fmt/format.h>

#include <cmath>

namespace tlaloc::cpu {
namespace {

using fmt::format;

class Converter {
 public:
  Converter(IrWriter& w, int lanes) : w_(w), lanes_(lanes) {}

  std::string vector(const std::string& type) const { return ir_vector(type, lanes_); }
  IrValue number(const std::string& type, const std::string& value) const {
    return ir_splat(type, value, lanes_);
  }
  IrValue cast(const char* op, const std::string& from, const IrValue& v, const std::string& to) {
    return w_.let(format("{} {} {} to {}", op, vector(from), v, vector(to)));
  }
  IrValue binary(const char* op, const std::string& type, const IrValue& a, const IrValue& b) {
    return w_.let(format("{} {} {}, {}", op, vector(type), a, b));
  }
  IrValue binary(const char* op, const std::string& type, const IrValue& a, const char* b) {
    return binary(op, type, a, number(type, b));
  }
  IrValue choose(const IrValue& p, const std::string& type, const IrValue& a, const IrValue& b) {
    return w_.let(
        format("select {} {}, {} {}, {} {}", vector("i1"), p, vector(type), a, vector(type), b));
  }
  IrValue abs_double(const IrValue& v) {
    return w_.let(format("call {0} @llvm.fabs.{1}f64({0} {2})", vector("double"),
                         lanes_ == 1 ? "" : format("v{}", lanes_), v));
  }

  IrValue from_half(const IrValue& v) {
    const IrValue wide = cast("fpext", "half", cast("bitcast", "i16", v, "half"), "float");
    // Behind the fence nothing computes in f16, which LLVM has calls for.
    const std::string many = lanes_ == 1 ? "" : format("v{}", lanes_);
    return w_.let(
        format("call {0} @llvm.arithmetic.fence.{1}f32({0} {2})", vector("float"), many, wide));
  }
  IrValue to_half(const IrValue& v) {
    return cast("bitcast", "half", cast("fptrunc", "float", v, "half"), "i16");
  }
  IrValue from_bfloat(const IrValue& v) {
    return cast("bitcast", "i32", binary("shl", "i32", cast("zext", "i16", v, "i32"), "16"),
                "float");
  }
  IrValue upper_half(const IrValue& v) {
    const IrValue bits = cast("bitcast", "float", v, "i32");
    return cast("trunc", "i32", binary("lshr", "i32", bits, "16"), "i16");
  }
  IrValue to_bfloat(const IrValue& v) {
    const IrValue bits = cast("bitcast", "float", v, "i32");
    const IrValue odd = binary("and", "i32", binary("lshr", "i32", bits, "16"), "1");
    const IrValue up = binary("add", "i32", binary("add", "i32", bits, "32767"), odd);
    // A NaN must not round to infinity.
    const IrValue nan = binary("fcmp uno", "float", v, v);
    const IrValue r = choose(nan, "i32", binary("or", "i32", bits, "4194304"), up);
    return cast("trunc", "i32", binary("lshr", "i32", r, "16"), "i16");
  }

  /// A double as a float whose last bit says whether anything was lost: rounding that to a short
  /// type gives what rounding the double would.
  IrValue with_sticky_bit(const IrValue& v) {
    const IrValue f = cast("fptrunc", "double", v, "float");
    const IrValue back = cast("fpext", "float", f, "double");
    const IrValue larger = binary("fcmp ogt", "double", abs_double(back), abs_double(v));
    const IrValue bits = cast("bitcast", "float", f, "i32");
    const IrValue down = binary("add", "i32", bits, cast("sext", "i1", larger, "i32"));
    const IrValue sticky = binary("or", "i32", down, "1");
    const IrValue lost = binary("fcmp one", "double", back, v);
    return cast("bitcast", "i32", choose(lost, "i32", sticky, bits), "float");
  }
  /// A 64-bit integer as one that a double can be, to the same end.
  IrValue as_double_would(DType t, const IrValue& v) {
    const IrValue low = binary("and", "i64", v, "2047");
    const IrValue lost = cast("zext", "i1", binary("icmp ne", "i64", low, "0"), "i64");
    const IrValue high = binary("and", "i64", v, "-2048");
    const IrValue sticky = binary("or", "i64", high, binary("shl", "i64", lost, "11"));
    const std::string limit = std::to_string(std::int64_t{1} << 53);
    const IrValue small = t == DType::u64
                              ? binary("icmp ult", "i64", v, limit.c_str())
                              : binary("icmp ult", "i64", binary("add", "i64", v, limit.c_str()),
                                       std::to_string(std::int64_t{1} << 54).c_str());
    return choose(small, "i64", v, sticky);
  }
  /// Truncated and saturated. LLVM's intrinsic for it may become calls of fmin.
  IrValue to_integer(DType from, DType to, const IrValue& v) {
    const std::string a = ir_type(from), b = ir_type(to);
    const bool sign = is_signed_integer(to);
    const int bits = bit_width(to) - (sign ? 1 : 0);
    const double high = std::ldexp(1.0, bits), low = sign ? -high : 0;
    // Where it does not fit the conversion has no value, and is not chosen.
    IrValue r = bit_width(to) < 32 ? cast("trunc", "i32", cast("fptosi", a, v, "i32"), b)
                                   : cast(sign ? "fptosi" : "fptoui", a, v, b);
    const std::uint64_t most = ~std::uint64_t{0} >> (64 - bits);
    const std::uint64_t least = sign ? ~most : 0;
    const auto whole = [&](std::uint64_t x) { return ir_constant(to, x, lanes_); };
    const auto real = [&](double x) { return ir_real(from, x, lanes_); };
    r = choose(binary("fcmp ole", a, v, real(low)), b, whole(least), r);
    r = choose(binary("fcmp oge", a, v, real(high)), b, whole(most), r);
    return choose(binary("fcmp uno", a, v, v), b, whole(0), r);
  }
  /// A float that rounds to a short type as v does.
  IrValue to_short(DType from, const IrValue& v) {
    if (from == DType::f32) return v;
    if (from == DType::f64) return with_sticky_bit(v);
    const std::string type = ir_type(from);
    const char* op = is_signed_integer(from) ? "sitofp" : "uitofp";
    if (bit_width(from) <= 16) return cast(op, type, v, "float");
    const IrValue exact = bit_width(from) == 64 ? as_double_would(from, v) : v;
    return with_sticky_bit(cast(op, type, exact, "double"));
  }

 private:
  IrWriter& w_;
  int lanes_;
};

}  // namespace

DType computed_as(DType t) { return is_short_float(t) ? DType::f32 : t; }

IrValue from_memory(IrWriter& w, DType t, const IrValue& v, int lanes) {
  return t == DType::boolean ? Converter(w, lanes).cast("trunc", "i8", v, "i1") : v;
}
IrValue to_memory(IrWriter& w, DType t, const IrValue& v, int lanes) {
  return t == DType::boolean ? Converter(w, lanes).cast("zext", "i1", v, "i8") : v;
}
IrValue widened(IrWriter& w, DType t, const IrValue& v, int lanes) {
  Converter c(w, lanes);
  return t == DType::bf16 ? c.from_bfloat(v) : t == DType::f16 ? c.from_half(v) : v;
}
IrValue narrowed(IrWriter& w, DType t, const IrValue& v, int lanes, bool exact) {
  Converter c(w, lanes);
  return t == DType::bf16  ? exact ? c.upper_half(v) : c.to_bfloat(v)
          : t == DType::f16 ? c.to_half(v)
                           : v;
}

IrValue write_convert(IrWriter& w, DType from, DType to, const IrValue& v, int lanes) {
  if (from == to) return v;
  if (is_short_float(from)) {
    return write_convert(w, DType::f32, to, widened(w, from, v, lanes), lanes);
  }
  Converter c(w, lanes);
  if (is_short_float(to)) return narrowed(w, to, c.to_short(from, v), lanes);
  const std::string a = ir_type(from), b = ir_type(to);
  auto cast = [&](const char* op) { return c.cast(op, a, v, b); };
  if (to == DType::boolean) {
    return is_float(from) ? c.binary("fcmp une", a, v, ir_real(from, 0, lanes))
                          : c.binary("icmp ne", a, v, "0");
  }
  if (is_float(from)) {
    if (is_float(to)) return cast(to == DType::f64 ? "fpext" : "fptrunc");
    return c.to_integer(from, to, v);
  }
  if (is_float(to)) return cast(is_signed_integer(from) ? "sitofp" : "uitofp");
  if (bit_width(to) == bit_width(from)) return v;
  if (bit_width(to) < bit_width(from)) return cast("trunc");
  return cast(is_signed_integer(from) ? "sext" : "zext");
}

IrValue write_bitcast(IrWriter& w, DType from, DType to, const IrValue& v, int lanes) {
  const std::string a = ir_type(from), b = ir_type(to);
  return a == b ? v : Converter(w, lanes).cast("bitcast", a, v, b);
}

}  // namespace tlaloc::cpu
