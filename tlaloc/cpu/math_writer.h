// The math of math_pieces-inl.h as LLVM IR, one instruction a call; internal to generate_math.cc.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>

#include "tlaloc/cpu/ir_writer.h"

namespace tlaloc::cpu {

/// Writes a call of the C library's function on one element.
using ScalarCall = std::function<IrValue(const IrValue&)>;

/// On vectors of f32 or f64; one lane is the element itself.
template <class T>
class MathWriter {
 public:
  using Real = IrValue;
  using Whole = IrValue;
  using Flags = IrValue;
  static constexpr bool kWide = sizeof(T) == sizeof(double);

  MathWriter(IrWriter& w, int lanes);

  IrValue real(double x) const;
  IrValue whole(std::int64_t x) const;

  IrValue add(const IrValue& a, const IrValue& b) const { return binary("fadd", a, b); }
  IrValue sub(const IrValue& a, const IrValue& b) const { return binary("fsub", a, b); }
  IrValue mul(const IrValue& a, const IrValue& b) const { return binary("fmul", a, b); }
  IrValue div(const IrValue& a, const IrValue& b) const { return binary("fdiv", a, b); }
  IrValue neg(const IrValue& a) const;
  IrValue fma(const IrValue& a, const IrValue& b, const IrValue& c) const {
    return call("fmuladd", {a, b, c});
  }
  IrValue abs(const IrValue& a) const { return call("fabs", {a}); }
  IrValue copysign(const IrValue& a, const IrValue& sign) const {
    return call("copysign", {a, sign});
  }
  IrValue sqrt(const IrValue& a) const { return call("sqrt", {a}); }
  IrValue floor(const IrValue& a) const { return call("floor", {a}); }

  IrValue lt(const IrValue& a, const IrValue& b) const { return compare("olt", a, b); }
  IrValue gt(const IrValue& a, const IrValue& b) const { return compare("ogt", a, b); }
  IrValue ge(const IrValue& a, const IrValue& b) const { return compare("oge", a, b); }
  IrValue eq(const IrValue& a, const IrValue& b) const { return compare("oeq", a, b); }
  IrValue ne(const IrValue& a, const IrValue& b) const { return compare("une", a, b); }
  IrValue not_lt(const IrValue& a, const IrValue& b) const { return compare("uge", a, b); }
  IrValue unordered(const IrValue& a, const IrValue& b) const { return compare("uno", a, b); }
  IrValue both(const IrValue& p, const IrValue& q) const { return flags("and", p, q); }
  IrValue any(const IrValue& p, const IrValue& q) const { return flags("or", p, q); }
  IrValue one_of(const IrValue& p, const IrValue& q) const { return flags("xor", p, q); }
  IrValue choose(const IrValue& p, const IrValue& a, const IrValue& b) const;

  IrValue pattern(const IrValue& x) const;
  IrValue from_pattern(const IrValue& x) const;
  IrValue plus(const IrValue& a, const IrValue& b) const { return integer("add", a, b); }
  IrValue minus(const IrValue& a, const IrValue& b) const { return integer("sub", a, b); }
  IrValue smaller(const IrValue& a, const IrValue& b) const;
  IrValue both_bits(const IrValue& a, const IrValue& b) const { return integer("and", a, b); }
  IrValue halved(const IrValue& n) const { return integer("ashr", n, whole(1)); }
  /// To where exponents lie, and from there.
  IrValue to_exponent(const IrValue& n) const { return integer("shl", n, whole(kMantissa)); }
  IrValue from_exponent(const IrValue& n) const { return integer("ashr", n, whole(kMantissa)); }
  IrValue has_bit(const IrValue& n, std::int64_t bit) const;
  /// -x where n has bit 1, that of value 2.
  IrValue turned_by_bit_1(const IrValue& x, const IrValue& n) const;
  /// A small integer as a float.
  IrValue real_of(const IrValue& n) const;

  /// For f32: the same lanes as f64.
  MathWriter<double> widened() const;
  IrValue widen(const IrValue& x) const;
  IrValue narrow(const IrValue& x) const;
  IrValue narrow_whole(const IrValue& n) const;

  /// near(), which must be what any() is there, where |x| is from `low` to `high`, if x is one
  /// element; any() elsewhere.
  IrValue sooner(const IrValue& x, double low, double high, const std::function<IrValue()>& near,
                 const std::function<IrValue()>& any) const;
  /// y, and for the lanes where |x| reaches the limit what `scalar` gives.
  IrValue with_far_lanes(const IrValue& x, const IrValue& y, double limit,
                         const ScalarCall& scalar) const;

 private:
  static constexpr int kMantissa = kWide ? 52 : 23;

  IrValue binary(const char* op, const IrValue& a, const IrValue& b) const;
  IrValue call(const char* intrinsic, std::initializer_list<IrValue> args) const;
  IrValue compare(const char* how, const IrValue& a, const IrValue& b) const;
  IrValue flags(const char* op, const IrValue& p, const IrValue& q) const;
  IrValue integer(const char* op, const IrValue& a, const IrValue& b) const;

  IrWriter& w_;
  int lanes_;
  std::string type_, bits_, flags_;
};

extern template class MathWriter<float>;
extern template class MathWriter<double>;

}  // namespace tlaloc::cpu
