// x^y. Coefficients are minimax fits (Remez's algorithm in 50 digits).
#include <limits>

#include "tlaloc/cpu/math_writer.h"

namespace tlaloc::cpu {
namespace {

/// x^y for finite x > 0, where y is not a NaN: in f64, for results that become f32.
IrValue core32(const MathWriter& m, const IrValue& x, const IrValue& y) {
  const auto parts = m.split(x);
  const IrValue f = m.sub(parts.mantissa, m.real(1));
  const IrValue s = m.div(f, m.add(f, m.real(2)));
  const IrValue series =
      m.polynomial(m.mul(s, s), {0.340727716881400673, 0.411672852891034598, 0.577083582589151592,
                                 0.961796673355405572, 2.88539008179007412});
  const IrValue log2 = m.fma(s, series, m.real_of(parts.exponent));
  // So large that 0 y is still 0.
  const IrValue finite = m.at_most(m.at_least(y, m.real(-1e40)), m.real(1e40));
  return write_short_exp2(m, m.mul(finite, log2));
}

/// The same in f64, the logarithm and its product with y by two numbers each.
IrValue core64(const MathWriter& m, const IrValue& x, const IrValue& y) {
  const IrValue tiny = m.compare("olt", x, m.real(std::numeric_limits<double>::min()));
  const auto parts = m.split(m.choose(tiny, m.mul(x, m.real(0x1p54)), x));
  IrValue n = m.real_of(parts.exponent);
  n = m.choose(tiny, m.sub(n, m.real(54)), n);
  // log(m) = 2 atanh(s) = 2/3 s (3 + s^2 + s^4 (3/5 + ...)), s = f / d = (m - 1) / (m + 1).
  const IrValue one = m.real(1), three = m.real(3);
  const IrValue f = m.sub(parts.mantissa, one), d = m.add(parts.mantissa, one);
  const IrValue inverse = m.div(one, d);
  const IrValue s = m.mul(f, inverse);
  const IrValue s1 = m.upper(s), d1 = m.upper(d);
  const IrValue d2 = m.sub(parts.mantissa, m.sub(d1, one));
  const IrValue s2 = m.mul(m.sub(m.sub(f, m.mul(s1, d1)), m.mul(s1, d2)), inverse);
  const IrValue z = m.mul(s, s);
  IrValue rest =
      m.polynomial(z, {0.165198742515391388, 0.156343693634006453, 0.1765300990375214,
                       0.199998606798916674, 0.23076925129303676, 0.272727272538856436,
                       0.333333333334358237, 0.428571428571425634, 0.600000000000000003});
  rest = m.mul(m.mul(z, z), rest);
  rest = m.fma(s2, m.add(s1, s), rest);
  const IrValue z1 = m.mul(s1, s1);
  const IrValue t1 = m.upper(m.add(m.add(three, z1), rest));
  const IrValue t2 = m.sub(rest, m.sub(m.sub(t1, three), z1));
  const IrValue u = m.mul(s1, t1);
  const IrValue v = m.fma(s2, t1, m.mul(t2, s));
  const IrValue p1 = m.upper(m.add(u, v));
  const IrValue p2 = m.sub(v, m.sub(p1, u));
  // Times 2/3 / log 2, in two parts.
  const IrValue w1 = m.mul(m.real(0x1.ec709d8p-1), p1);
  const IrValue w2 =
      m.fma(m.real(0x1.ec709dc3a03fdp-1), p2, m.mul(m.real(0x1.0e80ff5d27f05p-27), p1));
  const IrValue log1 = m.upper(m.add(m.add(w1, w2), n));
  const IrValue log2 = m.sub(w2, m.sub(m.sub(log1, n), w1));
  // Beyond 2^70 any y gives 0, 1 or infinity.
  const IrValue finite = m.at_most(m.at_least(y, m.real(-0x1p70)), m.real(0x1p70));
  const IrValue y1 = m.upper(finite);
  IrValue high = m.mul(y1, log1);
  IrValue low = m.fma(m.sub(finite, y1), log1, m.mul(finite, log2));
  const IrValue sum = m.add(high, low);
  const IrValue outside = m.compare("ogt", m.abs(sum), m.real(1100));
  high = m.choose(outside, m.copysign(m.real(1100), sum), high);
  low = m.choose(outside, m.real(0), low);
  // 2^(high + low): with an integer taken out, times log 2, as exp.
  const auto whole = m.nearest(m.add(high, low), one);
  high = m.sub(high, whole.real);
  const IrValue q1 = m.upper(m.add(high, low));
  const IrValue q2 = m.sub(low, m.sub(q1, high));
  const IrValue r1 = m.mul(q1, m.real(0x1.62e42f8p-1));
  const IrValue r2 =
      m.fma(q2, m.real(0x1.62e42fefa39efp-1), m.mul(q1, m.real(0x1.be8e7bcd5e4f2p-27)));
  const IrValue r = m.add(r1, r2);
  const IrValue lost = m.sub(r2, m.sub(r, r1));
  const IrValue tail = m.fma(m.mul(r, r), write_exp_series(m, r), m.fma(r, lost, lost));
  return m.scaled(m.add(one, m.add(r, tail)), whole.whole);
}

}  // namespace

IrValue write_short_exp2(const MathWriter& m, const IrValue& x) {
  const IrValue inside = m.at_most(m.at_least(x, m.real(-200)), m.real(200));
  const auto n = m.nearest(inside, m.real(1));
  const IrValue p = m.polynomial(
      m.sub(inside, n.real),
      {1.53458166823171982e-4, 1.33999299494629626e-3, 9.61848890214580331e-3,
       5.55032878111016491e-2, 0.24022646892018992, 0.693147205736157253, 1.00000000055362796});
  return m.mul(p, m.power_of_two(n.whole));
}

IrValue write_pow(const MathWriter& m, const IrValue& x, const IrValue& y) {
  const IrValue size = m.abs(x), zero = m.real(0), one = m.real(1);
  const IrValue infinity = m.real(std::numeric_limits<double>::infinity());
  const IrValue nan = m.real(std::numeric_limits<double>::quiet_NaN());
  IrValue r;
  if (m.wide()) {
    r = core64(m, size, y);
  } else {
    const MathWriter::Widened w = m.widened();
    r = w.narrow(core32(w.writer, w.widen(size), w.widen(y)));
  }
  // Of 0 and of infinities.
  const IrValue none = m.compare("oeq", size, zero), all = m.compare("oeq", size, infinity);
  const IrValue down = m.compare("olt", y, zero);
  const IrValue end = m.choose(m.flags("xor", all, down), infinity, zero);
  r = m.choose(m.flags("or", none, all), end, r);
  // Of negative numbers: odd powers are negative, and what is no integer has no power.
  const IrValue half = m.mul(y, m.real(0.5));
  const IrValue whole = m.compare("oeq", m.floor(y), y);
  const IrValue odd = m.flags("and", whole, m.compare("une", m.floor(half), half));
  r = m.choose(odd, m.copysign(r, x), r);
  const IrValue below = m.flags("and", m.compare("olt", x, zero), m.compare("olt", size, infinity));
  r = m.choose(m.flags("and", below, m.compare("une", m.floor(y), y)), nan, r);
  r = m.choose(m.compare("uno", x, y), nan, r);
  return m.choose(m.flags("or", m.compare("oeq", x, one), m.compare("oeq", y, zero)), one, r);
}

}  // namespace tlaloc::cpu
