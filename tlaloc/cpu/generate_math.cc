#include "tlaloc/cpu/generate_math.h"

#include <fmt/format.h>

#include <initializer_list>
#include <limits>
#include <numbers>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

using fmt::format;
using ops::OpId;

class MathWriter {
 public:
  MathWriter(IrWriter& w, DType t, int lanes)
      : w_(w),
        t_(t),
        lanes_(lanes),
        wide_(t == DType::f64),
        type_(ir_vector(ir_type(t), lanes)),
        bits_(ir_vector(wide_ ? "i64" : "i32", lanes)),
        flags_(ir_vector("i1", lanes)),
        suffix_(format("{}{}", lanes == 1 ? "" : format("v{}", lanes), wide_ ? "f64" : "f32")) {}

  /// x = n log 2 + r with |r| <= log(2) / 2; exp(x) = 2^n exp(r). Cody and Waite's two constants
  /// make r exact enough.
  IrValue exp(IrValue x) {
    // Beyond these exp is 0 or infinite anyway; a NaN stays one.
    x = call("minimum", call("maximum", x, real(wide_ ? -746.0 : -104.0)),
             real(wide_ ? 710.0 : 89.0));
    // Adding 1.5 * 2^(mantissa bits) rounds to an integer, which the low bits then hold.
    const IrValue magic = real(wide_ ? 0x1.8p52 : 0x1.8p23);
    const IrValue shifted = fma(x, real(std::numbers::log2e), magic);
    const IrValue n = binary("fsub", shifted, magic);
    const IrValue whole = w_.let(format("sub {} {}, {}", bits_, cast(shifted), cast(magic)));
    const IrValue minus = w_.let("fneg " + type_ + " " + n);
    IrValue r = fma(minus, real(wide_ ? 6.93147180369123816490e-01 : 0.693359375), x);
    r = fma(minus, real(wide_ ? 1.90821492927058770002e-10 : -2.12194440e-4), r);
    IrValue p;
    if (wide_) {
      // Taylor's series: the first term left out is below 2^-57.
      p = polynomial(
          r, {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
              1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0});
    } else {
      // Minimax coefficients of Cephes' expf.
      p = polynomial(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
                         1.6666665459e-1, 5.0000001201e-1});
      p = binary("fadd", fma(p, binary("fmul", r, r), r), real(1));
    }
    // 2^n in two factors, each of which is a normal number; the last one rounds to a subnormal.
    const IrValue half = w_.let(format("ashr {} {}, {}", bits_, whole, whole_number(1)));
    const IrValue rest = w_.let(format("sub {} {}, {}", bits_, whole, half));
    return binary("fmul", binary("fmul", p, power_of_two(half)), power_of_two(rest));
  }

  /// x = m 2^e with m in [sqrt(1/2), sqrt(2)).
  IrValue log(const IrValue& x) {
    const int mantissa = wide_ ? 52 : 23;
    const double smallest =
        wide_ ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
    const IrValue tiny = compare("olt", x, real(smallest));
    const double up = wide_ ? 0x1p54 : 0x1p25;
    const IrValue scaled = choose(tiny, binary("fmul", x, real(up)), x);
    const IrValue pattern = cast(scaled);
    // The exponent is counted from sqrt(1/2): the difference of the patterns carries over.
    const std::int64_t root = wide_ ? 0x3fe6a09e667f3bcd : 0x3f3504f3;
    const IrValue above = w_.let(format("sub {} {}, {}", bits_, pattern, whole_number(root)));
    const IrValue e = w_.let(format("ashr {} {}, {}", bits_, above, whole_number(mantissa)));
    const IrValue shifted = w_.let(format("shl {} {}, {}", bits_, e, whole_number(mantissa)));
    const IrValue m = float_of(w_.let(format("sub {} {}, {}", bits_, pattern, shifted)));
    IrValue n = w_.let(format("sitofp {} {} to {}", bits_, e, type_));
    n = choose(tiny, binary("fsub", n, real(wide_ ? 54 : 25)), n);
    const IrValue f = binary("fsub", m, real(1));
    IrValue r;
    if (wide_) {
      // log(m) = 2 atanh(s), s = f / (2 + f): f - s (f - 2 (atanh(s) / s - 1) - …) keeps the bits
      // of f.
      const IrValue s = binary("fdiv", f, binary("fadd", f, real(2)));
      const IrValue z = binary("fmul", s, s);
      const IrValue series = polynomial(z, {2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                                            2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3});
      const IrValue tail = binary("fmul", z, series);  // 2 atanh(s) / s - 2
      const IrValue square = binary("fmul", binary("fmul", f, f), real(0.5));
      // 2 s = f - s f, and s f = square - s square; so log(m) = f - (square - s (square + tail)).
      IrValue low = binary("fmul", s, binary("fadd", square, tail));
      low = fma(n, real(1.90821492927058770002e-10), low);
      const IrValue high = binary("fsub", f, binary("fsub", square, low));
      r = fma(n, real(6.93147180369123816490e-01), high);
    } else {
      // Minimax coefficients of Cephes' logf.
      const IrValue z = binary("fmul", f, f);
      IrValue y = polynomial(
          f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
              -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
      y = binary("fmul", y, binary("fmul", f, z));
      y = fma(n, real(-2.12194440e-4), y);
      y = fma(z, real(-0.5), y);
      r = fma(n, real(0.693359375), binary("fadd", f, y));
    }
    const double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    r = choose(compare("oeq", x, real(infinity)), x, r);
    r = choose(compare("oeq", x, real(0)), real(-infinity), r);
    return choose(compare("uge", x, real(0)), choose(compare("uno", x, x), x, r), real(nan));
  }

  IrValue logistic(const IrValue& x) {
    const IrValue e = exp(w_.let("fneg " + type_ + " " + x));
    return binary("fdiv", real(1), binary("fadd", real(1), e));
  }

  IrValue tanh(const IrValue& x) {
    const IrValue size = w_.let(format("call {} @llvm.fabs.{}({} {})", type_, suffix_, type_, x));
    // Near 0 an odd function of x; Cephes' coefficients.
    const IrValue z = binary("fmul", x, x);
    IrValue near;
    if (wide_) {
      const IrValue p = polynomial(
          z, {-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3});
      const IrValue q = polynomial(
          z, {1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3});
      near = binary("fdiv", p, q);
    } else {
      near = polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                            1.33314422036e-1, -3.33332819422e-1});
    }
    near = fma(binary("fmul", near, z), x, x);
    const IrValue e = exp(binary("fadd", size, size));
    IrValue far = binary("fdiv", real(2), binary("fadd", e, real(1)));
    far = binary("fsub", real(1), far);
    return call("copysign", choose(compare("olt", size, real(0.625)), near, far), x);
  }

 private:
  IrValue real(double x) const {
    return ir_real(t_, wide_ ? x : double{static_cast<float>(x)}, lanes_);
  }
  IrValue whole_number(std::int64_t x) const {
    return ir_splat(wide_ ? "i64" : "i32", std::to_string(x), lanes_);
  }
  IrValue binary(const char* op, const IrValue& a, const IrValue& b) {
    return w_.let(format("{} {} {}, {}", op, type_, a, b));
  }
  IrValue call(const char* intrinsic, const IrValue& a, const IrValue& b) {
    return w_.let(
        format("call {} @llvm.{}.{}({} {}, {} {})", type_, intrinsic, suffix_, type_, a, type_, b));
  }
  /// One rounding where the CPU has it.
  IrValue fma(const IrValue& a, const IrValue& b, const IrValue& c) {
    return w_.let(format("call {} @llvm.fmuladd.{}({} {}, {} {}, {} {})", type_, suffix_, type_, a,
                         type_, b, type_, c));
  }
  IrValue compare(const char* how, const IrValue& a, const IrValue& b) {
    return w_.let(format("fcmp {} {} {}, {}", how, type_, a, b));
  }
  IrValue choose(const IrValue& p, const IrValue& a, const IrValue& b) {
    return w_.let(format("select {} {}, {} {}, {} {}", flags_, p, type_, a, type_, b));
  }
  IrValue cast(const IrValue& x) { return w_.let(format("bitcast {} {} to {}", type_, x, bits_)); }
  IrValue float_of(const IrValue& x) {
    return w_.let(format("bitcast {} {} to {}", bits_, x, type_));
  }
  /// Horner's scheme, the highest power first.
  IrValue polynomial(const IrValue& x, std::initializer_list<double> coefficients) {
    IrValue r;
    for (double c : coefficients) r = r.empty() ? real(c) : fma(r, x, real(c));
    return r;
  }
  IrValue power_of_two(const IrValue& n) {
    const IrValue biased =
        w_.let(format("add {} {}, {}", bits_, n, whole_number(wide_ ? 1023 : 127)));
    return float_of(w_.let(format("shl {} {}, {}", bits_, biased, whole_number(wide_ ? 52 : 23))));
  }

  IrWriter& w_;
  DType t_;
  int lanes_;
  bool wide_;
  std::string type_, bits_, flags_, suffix_;
};

}  // namespace

bool has_math(const ir::OpDef& op, DType t) {
  if (t != DType::f32 && t != DType::f64) return false;
  switch (static_cast<OpId>(op.id)) {
    case OpId::Exp:
    case OpId::Log:
    case OpId::Logistic:
    case OpId::Tanh:
      return true;
    default:
      return false;
  }
}

IrValue write_math(IrWriter& w, const ir::OpDef& op, const IrValue& x, DType t, int lanes) {
  MathWriter m(w, t, lanes);
  switch (static_cast<OpId>(op.id)) {
    case OpId::Exp:
      return m.exp(x);
    case OpId::Log:
      return m.log(x);
    case OpId::Logistic:
      return m.logistic(x);
    case OpId::Tanh:
      return m.tanh(x);
    default:
      throw InternalError("there is no vector function of that name");
  }
}

}  // namespace tlaloc::cpu
