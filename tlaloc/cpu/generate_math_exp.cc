// exp, log and their relatives. Coefficients without a source are minimax fits of ours (Remez's
// algorithm in 50 digits).
#include <limits>
#include <numbers>

#include "tlaloc/cpu/math_writer.h"

namespace tlaloc::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// log 2 in two parts, the first with so few bits that a product with an exponent is exact.
constexpr double kLog2High64 = 6.93147180369123816490e-01, kLog2Low64 = 1.90821492927058770002e-10;
constexpr double kLog2High32 = 0.693359375, kLog2Low32 = -2.12194440e-4;

/// log(1 + f) + n log 2 for sqrt(1/2) <= 1 + f <= sqrt(2).
IrValue log_sum(const MathWriter& m, const IrValue& f, const IrValue& n) {
  if (m.wide()) {
    // log(1 + f) = 2 atanh(s), s = f / (2 + f); 2 s = f - s f, and s f = square - s square: what
    // is taken from f keeps its bits.
    const IrValue s = m.div(f, m.add(f, m.real(2)));
    const IrValue z = m.mul(s, s);
    const IrValue series = m.polynomial(
        z, {0.14795998299149961, 0.15314046087488806, 0.181835644790419887, 0.22222198570844837,
            0.285714287424013328, 0.399999999994146895, 0.666666666666673438});
    const IrValue tail = m.mul(z, series);  // 2 atanh(s) / s - 2
    const IrValue square = m.mul(m.mul(f, f), m.real(0.5));
    IrValue low = m.mul(s, m.add(square, tail));
    low = m.fma(n, m.real(kLog2Low64), low);
    const IrValue high = m.sub(f, m.sub(square, low));
    return m.fma(n, m.real(kLog2High64), high);
  }
  // Minimax coefficients of Cephes' logf.
  const IrValue z = m.mul(f, f);
  IrValue y = m.polynomial(
      f, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
          -1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  y = m.mul(y, m.mul(f, z));
  y = m.fma(n, m.real(kLog2Low32), y);
  y = m.fma(z, m.real(-0.5), y);
  return m.fma(n, m.real(kLog2High32), m.add(f, y));
}

/// r = log(x) with its values at and beyond the ends: `x` is `least` where log is -infinity.
IrValue log_ends(const MathWriter& m, const IrValue& x, double least, IrValue r) {
  r = m.choose(m.compare("uge", x, m.real(kInfinity)), x, r);
  r = m.choose(m.compare("oeq", x, m.real(least)), m.real(-kInfinity), r);
  return m.choose(m.compare("olt", x, m.real(least)), m.real(kNan), r);
}

}  // namespace

IrValue write_exp_series(const MathWriter& m, const IrValue& r) {
  if (m.wide()) {
    return m.polynomial(r, {2.09244627068129378e-9, 2.51090233881878525e-8, 2.75572426931167296e-7,
                            2.75572442485772712e-6, 2.48015873606464754e-5, 1.98412698860860667e-4,
                            1.38888888888667755e-3, 8.33333333332164779e-3, 4.16666666666667016e-2,
                            0.166666666666666766, 0.5});
  }
  return m.polynomial(r, {1.991424081e-4, 1.394096901e-3, 8.333272904e-3, 4.166635532e-2,
                          0.1666666682, 0.5000000046});
}

IrValue write_exp(const MathWriter& m, const IrValue& x, const IrValue& low, int shift) {
  // Beyond these exp is 0 or infinite anyway; a NaN stays one.
  const IrValue inside = m.at_most(m.at_least(x, m.real(-746, -104)), m.real(711, 90));
  // x = n log 2 + r with |r| <= log(2) / 2; exp(x) = 2^n exp(r).
  const auto n = m.nearest(inside, m.real(std::numbers::log2e));
  const IrValue minus = m.neg(n.real);
  IrValue r = m.fma(minus, m.real(kLog2High64, kLog2High32), inside);
  r = m.fma(minus, m.real(kLog2Low64, kLog2Low32), r);
  if (!low.empty()) r = m.add(r, low);
  const IrValue p = m.add(m.fma(m.mul(r, r), write_exp_series(m, r), r), m.real(1));
  return m.scaled(p, shift ? m.integer("add", n.whole, m.whole(shift)) : n.whole);
}

IrValue write_expm1(const MathWriter& m, const IrValue& x) {
  const IrValue inside = m.at_most(m.at_least(x, m.real(-40, -20)), m.real(710, 89));
  const auto n = m.nearest(inside, m.real(std::numbers::log2e));
  const IrValue minus = m.neg(n.real), low = m.real(kLog2Low64, kLog2Low32);
  const IrValue high = m.fma(minus, m.real(kLog2High64, kLog2High32), inside);
  const IrValue r = m.fma(minus, low, high);
  const IrValue lost = m.fma(minus, low, m.sub(high, r));
  const IrValue tail = m.fma(m.mul(r, r), write_exp_series(m, r), lost);
  // exp(x) - 1 = 2^n (exp(r) - 1) + (2^n - 1), by halves: 2^n may be too large.
  const IrValue half = m.power_of_two(m.integer("add", n.whole, m.whole(-1)));
  const IrValue most = m.fma(half, r, m.sub(half, m.real(0.5)));
  const IrValue sum = m.fma(half, tail, most);
  const IrValue near = m.compare("oeq", n.real, m.real(0));
  return m.copysign(m.choose(near, m.add(r, tail), m.add(sum, sum)), x);
}

IrValue write_log(const MathWriter& m, const IrValue& x) {
  const double least =
      m.wide() ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
  const IrValue tiny = m.compare("olt", x, m.real(least));
  const auto parts = m.split(m.choose(tiny, m.mul(x, m.real(0x1p54, 0x1p25)), x));
  IrValue n = m.real_of(parts.exponent);
  n = m.choose(tiny, m.sub(n, m.real(54, 25)), n);
  return log_ends(m, x, 0, log_sum(m, m.sub(parts.mantissa, m.real(1)), n));
}

IrValue write_log1p(const MathWriter& m, const IrValue& x) {
  const IrValue one = m.real(1);
  const IrValue sum = m.add(x, one);
  // What the sum lost: at most one, so that it does not count where the sum is huge.
  const IrValue lost = m.sub(m.at_most(x, one), m.sub(sum, m.at_least(x, one)));
  const auto parts = m.split(sum);
  const IrValue down =
      m.smaller(parts.exponent_bits, m.whole(std::int64_t{64} << 52, std::int64_t{64} << 23));
  const IrValue factor = m.from_pattern(m.integer("sub", m.pattern(one), down));
  IrValue f = m.fma(lost, factor, m.sub(parts.mantissa, one));
  const IrValue n = m.real_of(parts.exponent);
  f = m.choose(m.compare("oeq", n, m.real(0)), x, f);
  const IrValue r = log_ends(m, x, -1, log_sum(m, f, n));
  return m.choose(m.compare("oeq", x, m.real(0)), x, r);
}

IrValue write_logistic(const MathWriter& m, const IrValue& x) {
  const IrValue one = m.real(1);
  return m.div(one, m.add(one, write_exp(m, m.neg(x))));
}

IrValue write_tanh(const MathWriter& m, const IrValue& x) {
  // Near 0 an odd function of x; Cephes' coefficients.
  const IrValue z = m.mul(x, x);
  IrValue near;
  if (m.wide()) {
    const IrValue p = m.polynomial(
        z, {-9.64399179425052238628e-1, -9.92877231001918586564e1, -1.61468768441708447952e3});
    const IrValue q = m.polynomial(
        z, {1.0, 1.12811678491632931402e2, 2.23548839060100448583e3, 4.84406305325125486048e3});
    near = m.div(p, q);
  } else {
    near = m.polynomial(z, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2,
                            1.33314422036e-1, -3.33332819422e-1});
  }
  near = m.fma(m.mul(near, z), x, x);
  const IrValue size = m.abs(x), one = m.real(1);
  const IrValue e = write_exp(m, m.add(size, size));
  const IrValue far = m.sub(one, m.div(m.real(2), m.add(e, one)));
  return m.copysign(m.choose(m.compare("olt", size, m.real(0.625)), near, far), x);
}

IrValue write_sinh(const MathWriter& m, const IrValue& x) {
  const IrValue z = m.mul(x, x);
  const IrValue p =
      m.wide()
          ? m.polynomial(z, {7.75874966397803762e-13, 1.60572597374775135e-10,
                             2.50521231371615013e-8, 2.75573191570689066e-6, 1.98412698414318824e-4,
                             8.33333333333314773e-3, 0.166666666666666674})
          : m.polynomial(z, {2.816952734e-6, 1.983615945e-4, 8.333350061e-3, 0.166666665});
  const IrValue near = m.fma(m.mul(p, z), x, x);
  const IrValue size = m.abs(x);
  const IrValue half = write_exp(m, size, {}, -1);
  const IrValue far = m.sub(half, m.div(m.real(0.25), half));
  return m.copysign(m.choose(m.compare("olt", size, m.real(1)), near, far), x);
}

IrValue write_cosh(const MathWriter& m, const IrValue& x) {
  const IrValue half = write_exp(m, m.abs(x), {}, -1);
  return m.add(half, m.div(m.real(0.25), half));
}

}  // namespace tlaloc::cpu
