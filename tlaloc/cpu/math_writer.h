// The pieces that functions on vectors are made of, and those functions by name; internal to
// generate_math*.cc.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "tlaloc/cpu/ir_writer.h"

namespace tlaloc::cpu {

/// Writes arithmetic on vectors of f32 or f64, one instruction a call. Where the processor has no
/// fused multiply-add `fma` rounds twice, so nothing may rely on one rounding.
class MathWriter {
 public:
  MathWriter(IrWriter& w, DType t, int lanes);

  IrWriter& ir() const { return w_; }
  bool wide() const { return wide_; }
  int lanes() const { return lanes_; }
  const std::string& type() const { return type_; }
  const std::string& bits_type() const { return bits_; }

  /// Constants: the same for both types, or for f64 and for f32.
  IrValue real(double x) const;
  IrValue real(double x64, double x32) const { return real(wide_ ? x64 : x32); }
  IrValue whole(std::int64_t x) const;
  IrValue whole(std::int64_t x64, std::int64_t x32) const { return whole(wide_ ? x64 : x32); }

  IrValue add(const IrValue& a, const IrValue& b) const { return binary("fadd", a, b); }
  IrValue sub(const IrValue& a, const IrValue& b) const { return binary("fsub", a, b); }
  IrValue mul(const IrValue& a, const IrValue& b) const { return binary("fmul", a, b); }
  IrValue div(const IrValue& a, const IrValue& b) const { return binary("fdiv", a, b); }
  IrValue neg(const IrValue& a) const;
  /// a * b + c
  IrValue fma(const IrValue& a, const IrValue& b, const IrValue& c) const;
  IrValue call(const char* intrinsic, std::initializer_list<IrValue> args) const;
  IrValue abs(const IrValue& a) const { return call("fabs", {a}); }
  IrValue copysign(const IrValue& a, const IrValue& sign) const {
    return call("copysign", {a, sign});
  }
  IrValue sqrt(const IrValue& a) const { return call("sqrt", {a}); }
  IrValue floor(const IrValue& a) const { return call("floor", {a}); }
  IrValue compare(const char* how, const IrValue& a, const IrValue& b) const;
  IrValue choose(const IrValue& p, const IrValue& a, const IrValue& b) const;
  /// The larger and the smaller one; `x` where it is a NaN.
  IrValue at_least(const IrValue& x, const IrValue& low) const;
  IrValue at_most(const IrValue& x, const IrValue& high) const;
  IrValue flags(const char* op, const IrValue& p, const IrValue& q) const;

  /// For f32: the same lanes as f64.
  struct Widened;
  Widened widened() const;

  // ---- the pattern of bits ----
  IrValue pattern(const IrValue& x) const;
  IrValue from_pattern(const IrValue& x) const;
  IrValue integer(const char* op, const IrValue& a, const IrValue& b) const;
  IrValue smaller(const IrValue& a, const IrValue& b) const;
  /// Only the upper half of the mantissa, so that products of two such are exact.
  IrValue upper(const IrValue& x) const;
  /// 2^n for an integer n that is an exponent of normal numbers.
  IrValue power_of_two(const IrValue& n) const;
  /// x 2^n for any n from twice the least exponent to twice the greatest, rounded once.
  IrValue scaled(const IrValue& x, const IrValue& n) const;

  /// Horner's scheme, the highest power first.
  IrValue polynomial(const IrValue& x, std::initializer_list<double> coefficients) const {
    IrValue r;
    for (double c : coefficients) r = r.empty() ? real(c) : fma(r, x, real(c));
    return r;
  }

  /// The nearest integer to a * b, as a float and as an integer of as many bits; |a * b| is below
  /// 2^51, or 2^22 for f32.
  struct Nearest {
    IrValue real, whole;
  };
  Nearest nearest(const IrValue& a, const IrValue& b) const;
  /// A positive number that is m 2^e, m from sqrt(1/2) to sqrt(2).
  struct Split {
    IrValue mantissa, exponent, exponent_bits;  ///< exponent_bits: e where exponents lie
  };
  Split split(const IrValue& x) const;
  /// A small integer as a float.
  IrValue real_of(const IrValue& n) const;

 private:
  IrValue binary(const char* op, const IrValue& a, const IrValue& b) const;

  IrWriter& w_;
  DType t_;
  int lanes_;
  bool wide_;
  std::string type_, bits_, flags_, suffix_;
};

struct MathWriter::Widened {
  MathWriter writer;
  const MathWriter& of;
  IrValue widen(const IrValue& x) const;
  IrValue narrow(const IrValue& x) const;
};

/// Writes a call of the C library's function on one element.
using ScalarCall = std::function<IrValue(const IrValue&)>;

/// exp(x + low) 2^shift; `low`, if any, is far smaller than x, and `shift` is 0 or -1.
IrValue write_exp(const MathWriter& m, const IrValue& x, const IrValue& low = {}, int shift = 0);
/// (exp(r) - 1 - r) / r^2 for |r| <= log(2) / 2.
IrValue write_exp_series(const MathWriter& m, const IrValue& r);
IrValue write_expm1(const MathWriter& m, const IrValue& x);
IrValue write_log(const MathWriter& m, const IrValue& x);
IrValue write_log1p(const MathWriter& m, const IrValue& x);
IrValue write_logistic(const MathWriter& m, const IrValue& x);
IrValue write_tanh(const MathWriter& m, const IrValue& x);
IrValue write_sinh(const MathWriter& m, const IrValue& x);
IrValue write_cosh(const MathWriter& m, const IrValue& x);

IrValue write_erf(const MathWriter& m, const IrValue& x);
IrValue write_erfc(const MathWriter& m, const IrValue& x);

/// 2^x in f64 with the errors of an f32, for results that become one.
IrValue write_short_exp2(const MathWriter& m, const IrValue& x);
IrValue write_pow(const MathWriter& m, const IrValue& x, const IrValue& y);

enum class Circular : std::uint8_t { sin, cos, tan };
/// `far` serves elements too large to be reduced here.
IrValue write_circular(const MathWriter& m, Circular f, const IrValue& x, const ScalarCall& far);
IrValue write_asin(const MathWriter& m, const IrValue& x);
IrValue write_acos(const MathWriter& m, const IrValue& x);
IrValue write_atan(const MathWriter& m, const IrValue& x);
IrValue write_atan2(const MathWriter& m, const IrValue& y, const IrValue& x);

}  // namespace tlaloc::cpu
