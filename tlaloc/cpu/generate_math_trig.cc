// Circular functions and their inverses. Coefficients are minimax fits (Remez's algorithm in 50
// digits).
#include <fmt/format.h>

#include <limits>
#include <numbers>

#include "tlaloc/cpu/math_writer.h"

namespace tlaloc::cpu {
namespace {

/// x - n pi/2, within pi/4, and n.
struct Reduced {
  IrValue high, low;  ///< low: what high lost; none where x is an f32
  IrValue quadrant;   ///< n modulo 4, as a 64-bit integer
};
/// Arguments up to which reduce() works.
constexpr double kLimit64 = 0x1p20, kLimit32 = 0x1p22;

// pi/2 in parts of 33 bits: products with n < 2^20 are exact.
constexpr double kHalfPi1 = 0x1.921fb544p+0, kHalfPi2 = 0x1.0b4611a6p-34,
                 kHalfPi3 = 0x1.3198a2ep-69, kHalfPi4 = 0x1.b839a252049c1p-104;
/// The same for n < 2^22; the rest need not be exact where x is an f32.
constexpr double kShortHalfPi1 = 0x1.921fb544p+0, kShortHalfPi2 = 0x1.0b4611a626331p-34;

constexpr double kInverseHalfPi = 0x1.45f306dc9c883p-1;

Reduced reduce64(const MathWriter& m, const IrValue& x) {
  const auto n = m.nearest(x, m.real(kInverseHalfPi));
  // Each difference is the result so far and what its rounding lost.
  const IrValue a = m.fma(m.neg(n.real), m.real(kHalfPi1), x);
  const IrValue b = m.mul(n.real, m.real(kHalfPi2));
  const IrValue c = m.sub(a, b);
  const IrValue lost1 = m.sub(m.sub(a, c), b);
  const IrValue d = m.mul(n.real, m.real(kHalfPi3));
  const IrValue e = m.sub(c, d);
  const IrValue lost2 = m.sub(m.sub(c, e), d);
  const IrValue rest = m.fma(m.neg(n.real), m.real(kHalfPi4), m.add(lost1, lost2));
  const IrValue high = m.add(e, rest);
  return {high, m.add(m.sub(e, high), rest), n.whole};
}
/// Where x was an f32: enough bits are left next to multiples of pi/2.
Reduced reduce32(const MathWriter& m, const IrValue& x) {
  const auto n = m.nearest(x, m.real(kInverseHalfPi));
  const IrValue minus = m.neg(n.real);
  const IrValue r = m.fma(minus, m.real(kShortHalfPi1), x);
  return {m.fma(minus, m.real(kShortHalfPi2), r), {}, n.whole};
}

/// sin and cos of what is reduced.
struct Wave {
  IrValue sine, cosine;
};
Wave wave64(const MathWriter& m, const Reduced& r) {
  const IrValue z = m.mul(r.high, r.high), half = m.mul(z, m.real(0.5)), one = m.real(1);
  const IrValue s =
      m.polynomial(z, {1.58961955220841358e-10, -2.50507471910574929e-8, 2.75573136179408558e-6,
                       -1.98412698295803974e-4, 8.33333333332210849e-3, -0.166666666666666307});
  const IrValue c =
      m.polynomial(z, {-1.13585143834870032e-11, 2.08757004251063715e-9, -2.75573141763099473e-7,
                       2.48015872888416514e-5, -1.38888888888730408e-3, 4.16666666666665928e-2});
  // cos(r) = 1 - z/2 + z^2 c, with what 1 - z/2 lost.
  const IrValue most = m.sub(one, half);
  const IrValue lost = m.fma(m.neg(r.high), r.low, m.sub(m.sub(one, most), half));
  return {m.add(r.high, m.fma(m.mul(r.high, z), s, m.mul(r.low, most))),
          m.add(most, m.fma(m.mul(z, z), c, lost))};
}
/// Few terms: for results that are f32.
Wave wave32(const MathWriter& m, const IrValue& r) {
  const IrValue z = m.mul(r, r);
  const IrValue s = m.polynomial(z, {-1.951522006e-4, 8.332160314e-3, -0.166666546});
  const IrValue c = m.polynomial(z, {2.443303044e-5, -1.388731508e-3, 4.166664566e-2});
  return {m.fma(m.mul(r, z), s, r), m.fma(m.mul(z, z), c, m.fma(z, m.real(-0.5), m.real(1)))};
}

/// y, and for the lanes of `x` from the limit on what `scalar` gives.
IrValue with_far_lanes(const MathWriter& m, const IrValue& x, const IrValue& y,
                       const ScalarCall& scalar) {
  IrWriter& w = m.ir();
  const IrValue far = m.compare("oge", m.abs(x), m.real(kLimit64, kLimit32));
  const IrValue result = w.variable(m.type());
  w.line(fmt::format("store {} {}, ptr {}", m.type(), y, result));
  const std::string some = w.label("far"), done = w.label("near");
  if (m.lanes() == 1) {
    w.branch(far, some, done);
    w.begin(some);
    w.line(fmt::format("store {} {}, ptr {}", m.type(), scalar(x), result));
    w.fall_into(done);
    return w.let(fmt::format("load {}, ptr {}", m.type(), result));
  }
  const IrValue mask =
      w.let(fmt::format("bitcast {} {} to i{}", ir_vector("i1", m.lanes()), far, m.lanes()));
  w.branch(w.let(fmt::format("icmp ne i{} {}, 0", m.lanes(), mask)), some, done);
  w.begin(some);
  // Lane by lane, in memory, whose alignment is a variable's.
  const std::string element = m.wide() ? "double" : "float";
  const IrValue in = w.variable(m.type()), out = w.variable(m.type()), at = w.variable("i64");
  w.line(fmt::format("store {} {}, ptr {}, align 32", m.type(), x, in));
  w.line(fmt::format("store {} {}, ptr {}, align 32", m.type(), y, out));
  w.line("store i64 0, ptr " + at);
  const std::string head = w.label("lane"), call = w.label("call"), next = w.label("next"),
                    end = w.label("end");
  w.fall_into(head);
  const IrValue i = w.let("load i64, ptr " + at);
  auto place = [&](const IrValue& of) {
    return w.let(fmt::format("getelementptr {}, ptr {}, i64 {}", element, of, i));
  };
  const IrValue v = w.let(fmt::format("load {}, ptr {}", element, place(in)));
  MathWriter one(w, m.wide() ? DType::f64 : DType::f32, 1);
  w.branch(one.compare("oge", one.abs(v), one.real(kLimit64, kLimit32)), call, next);
  w.begin(call);
  const IrValue called = scalar(v);
  w.line(fmt::format("store {} {}, ptr {}", element, called, place(out)));
  w.fall_into(next);
  const IrValue after = w.let(fmt::format("add i64 {}, 1", i));
  w.line("store i64 " + after + ", ptr " + at);
  w.branch(w.let(fmt::format("icmp ult i64 {}, {}", after, m.lanes())), head, end);
  w.begin(end);
  const IrValue all = w.let(fmt::format("load {}, ptr {}, align 32", m.type(), out));
  w.line(fmt::format("store {} {}, ptr {}", m.type(), all, result));
  w.fall_into(done);
  return w.let(fmt::format("load {}, ptr {}", m.type(), result));
}

/// asin(s) / s - 1 over z = s^2, for s <= 1/2.
IrValue asin_series(const MathWriter& m, const IrValue& z) {
  if (m.wide()) {
    return m.polynomial(z, {3.26267574412762982e-2, -2.09959862775663221e-2, 2.17052078862268425e-2,
                            3.70735588194592292e-3, 1.07799950659507325e-2, 1.13989593954282706e-2,
                            1.39808146467239411e-2, 1.73516125164954973e-2, 2.23722149590504517e-2,
                            3.03819427088246706e-2, 4.46428571745893299e-2, 7.49999999997082502e-2,
                            0.166666666666667603});
  }
  return m.polynomial(z, {3.751618516e-2, 1.443881664e-2, 3.180765587e-2, 4.451696351e-2,
                          7.500504136e-2, 0.1666665999});
}
/// asin(|x|) is s + p for |x| <= 1/2, else pi/2 - 2 (s + p).
struct Arc {
  IrValue beyond_half, s, p;
};
Arc arc(const MathWriter& m, const IrValue& x) {
  const IrValue a = m.abs(x), half = m.real(0.5);
  const IrValue beyond = m.compare("ogt", a, half);
  const IrValue rest = m.fma(m.neg(a), half, half);  // exact: (1 - a) / 2
  const IrValue z = m.choose(beyond, rest, m.mul(a, a));
  const IrValue s = m.choose(beyond, m.sqrt(rest), a);
  return {beyond, s, m.mul(m.mul(s, z), asin_series(m, z))};
}

// Constants as a number and what it lost.
struct Pair {
  IrValue high, low;
};
Pair half_pi(const MathWriter& m) {
  return {m.real(0x1.921fb54442d18p+0), m.real(0x1.1a62633145c07p-54, -4.371138828673793e-08)};
}
Pair whole_pi(const MathWriter& m) {
  return {m.real(0x1.921fb54442d18p+1), m.real(0x1.1a62633145c07p-53, -8.742277657347586e-08)};
}
IrValue minus(const MathWriter& m, const Pair& a, const IrValue& b) {
  return m.sub(a.high, m.sub(b, a.low));
}
/// a - b - c for a small c.
IrValue minus(const MathWriter& m, const Pair& a, const IrValue& b, const IrValue& c) {
  return m.sub(m.sub(a.high, b), m.sub(c, a.low));
}

/// atan(num / den) for 0 <= num and 0 < den.
IrValue atan_of_quotient(const MathWriter& m, const IrValue& num, const IrValue& den,
                         bool may_exceed_1) {
  const IrValue zero = m.real(0);
  // Near 1: pi/4 + atan((num - den) / (num + den)); beyond: pi/2 - atan(den / num).
  const IrValue near_one = m.compare("ogt", num, m.mul(den, m.real(0.41421356237309503)));
  IrValue n = m.choose(near_one, m.sub(num, den), num);
  IrValue d = m.choose(near_one, m.add(num, den), den);
  IrValue high = m.choose(near_one, m.real(std::numbers::pi / 4), zero);
  IrValue low = m.choose(near_one, m.real(0x1.1a62633145c07p-55, -2.1855694143368964e-08), zero);
  if (may_exceed_1) {
    const IrValue large = m.compare("ogt", num, m.mul(den, m.real(2.414213562373095)));
    const Pair right = half_pi(m);
    n = m.choose(large, m.neg(den), n);
    d = m.choose(large, num, d);
    high = m.choose(large, right.high, high);
    low = m.choose(large, right.low, low);
  }
  const IrValue t = m.div(n, d), z = m.mul(t, t);
  const IrValue p =
      m.wide() ? m.polynomial(
                     z, {1.51925132369796427e-2, -3.34712631662917673e-2, 4.50338432655166474e-2,
                         -5.21835624228445166e-2, 5.87701302477423239e-2, -6.66622571483627665e-2,
                         7.69228267699178133e-2, -9.09090814036802596e-2, 0.11111111088045368,
                         -0.142857142853855736, 0.199999999999976469, -0.333333333333333275})
               : m.polynomial(z, {-6.077857138e-2, 0.1059367583, -0.1424351551, 0.1999847062,
                                  -0.3333331518});
  return m.add(high, m.add(t, m.fma(m.mul(t, z), p, low)));
}

}  // namespace

IrValue write_circular(const MathWriter& m, Circular f, const IrValue& x, const ScalarCall& far) {
  // An f32 is reduced in f64; what is then divided stays there.
  const MathWriter::Widened w = m.widened();
  const Reduced r = m.wide() ? reduce64(m, x) : reduce32(w.writer, w.widen(x));
  const bool in_f64 = m.wide() || f == Circular::tan;
  const MathWriter& a = in_f64 && !m.wide() ? w.writer : m;
  const Wave v = m.wide() ? wave64(m, r)
                 : in_f64 ? wave32(w.writer, r.high)
                          : wave32(m, w.narrow(r.high));
  auto bit = [&](const IrValue& n, int k) {
    const MathWriter& i = m.wide() ? m : w.writer;
    return i.ir().let(fmt::format("icmp ne {} {}, {}", i.bits_type(),
                                  i.integer("and", n, i.whole(k)), i.whole(0)));
  };
  const IrValue odd = bit(r.quadrant, 1);
  IrValue y;
  if (f == Circular::tan) {
    const IrValue q = a.div(a.choose(odd, v.cosine, v.sine), a.choose(odd, v.sine, v.cosine));
    y = a.choose(odd, a.neg(q), q);
    if (!m.wide()) y = w.narrow(y);
  } else {
    const bool is_sin = f == Circular::sin;
    y = is_sin ? m.choose(odd, v.cosine, v.sine) : m.choose(odd, v.sine, v.cosine);
    // The signs are + + - - for sin, and + - - + for cos.
    const IrValue one = m.wide() ? m.whole(1) : w.writer.whole(1);
    const IrValue n = is_sin ? r.quadrant : w.writer.integer("add", r.quadrant, one);
    y = m.choose(bit(n, 2), m.neg(y), y);
  }
  // The sign of a zero.
  if (f != Circular::cos) y = m.choose(m.compare("oeq", x, m.real(0)), x, y);
  return with_far_lanes(m, x, y, far);
}

IrValue write_asin(const MathWriter& m, const IrValue& x) {
  const Arc a = arc(m, x);
  const IrValue far = minus(m, half_pi(m), m.add(a.s, a.s), m.add(a.p, a.p));
  return m.copysign(m.choose(a.beyond_half, far, m.add(a.s, a.p)), x);
}
IrValue write_acos(const MathWriter& m, const IrValue& x) {
  const Arc a = arc(m, x);
  const IrValue s = m.add(a.s, a.s), p = m.add(a.p, a.p);
  const IrValue below = m.compare("olt", x, m.real(0));
  const IrValue far = m.choose(below, minus(m, whole_pi(m), s, p), m.add(s, p));
  const IrValue near = minus(m, half_pi(m), x, m.copysign(a.p, x));
  return m.choose(a.beyond_half, far, near);
}
IrValue write_atan(const MathWriter& m, const IrValue& x) {
  return m.copysign(atan_of_quotient(m, m.abs(x), m.real(1), true), x);
}
IrValue write_atan2(const MathWriter& m, const IrValue& y, const IrValue& x) {
  const IrValue a = m.abs(y), b = m.abs(x), zero = m.real(0), one = m.real(1);
  const IrValue infinity = m.real(std::numeric_limits<double>::infinity());
  const IrValue steep = m.compare("ogt", a, b);
  IrValue small = m.choose(steep, b, a), large = m.choose(steep, a, b);
  // 0 / 0 is 0 here, and infinity / infinity is 1.
  const IrValue both = m.compare("oeq", small, infinity);
  small = m.choose(both, one, small);
  large = m.choose(m.flags("or", both, m.compare("oeq", large, zero)), one, large);
  // Sums of large numbers would overflow.
  const IrValue factor =
      m.choose(m.compare("ogt", large, m.real(0x1p1000, 0x1p100)), m.real(0.25), one);
  IrValue r = atan_of_quotient(m, m.mul(small, factor), m.mul(large, factor), false);
  r = m.choose(steep, minus(m, half_pi(m), r), r);
  const IrValue left = m.compare("olt", m.copysign(one, x), zero);
  r = m.choose(left, minus(m, whole_pi(m), r), r);
  const IrValue nan = m.real(std::numeric_limits<double>::quiet_NaN());
  return m.choose(m.compare("uno", x, y), nan, m.copysign(r, y));
}

}  // namespace tlaloc::cpu
