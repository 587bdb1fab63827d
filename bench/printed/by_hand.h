// The gradients of print.cc's programs as a person would write them: the adjoint of each line, in
// reverse order, with what the loop needs kept in a vector.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace by_hand {

struct Option {
  double spot, strike, rate, volatility, years;
};
inline Option option_price_gradient(double spot, double strike, double rate, double volatility,
                                    double years) {
  const double root = std::sqrt(years);
  const double deviation = volatility * root;
  const double logarithm = std::log(spot / strike);
  const double drift = rate + volatility * volatility / 2;
  const double d1 = (logarithm + drift * years) / deviation, d2 = d1 - deviation;
  const double n1 = 0.5 * std::erfc(-d1 / std::sqrt(2.0));
  const double n2 = 0.5 * std::erfc(-d2 / std::sqrt(2.0));
  const double discount = std::exp(-rate * years);
  constexpr double kDensity = 0.39894228040143267794;  // 1 / sqrt(2 pi)
  Option g{n1, -discount * n2, 0, 0, 0};
  double d_d1 = spot * kDensity * std::exp(-d1 * d1 / 2);
  const double d_d2 = -strike * discount * kDensity * std::exp(-d2 * d2 / 2);
  const double d_discount = -strike * n2;
  g.rate = -d_discount * discount * years;
  g.years = -d_discount * discount * rate;
  d_d1 += d_d2;
  const double d_top = d_d1 / deviation;
  const double d_deviation = -d_d2 - d_top * d1;
  g.spot += d_top / spot;
  g.strike -= d_top / strike;
  g.rate += d_top * years;
  g.volatility = d_top * years * volatility + d_deviation * root;
  g.years += d_top * drift + d_deviation * volatility / (2 * root);
  return g;
}

struct Pendulum {
  double angle, damping;
};
inline Pendulum pendulum_gradient(double angle, double damping, std::int64_t steps) {
  std::vector<double> angles(static_cast<std::size_t>(steps)), speeds(angles.size());
  double a = angle, v = 0;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    angles[i] = a;
    speeds[i] = v;
    v -= 0.01 * (9.81 * std::sin(a) + damping * v);
    a += 0.01 * v;
  }
  double d_a = 1, d_v = 0, d_damping = 0;
  for (std::size_t i = angles.size(); i-- > 0;) {
    d_v += 0.01 * d_a;
    const double d_force = -0.01 * d_v;
    d_a += d_force * 9.81 * std::cos(angles[i]);
    d_damping += d_force * speeds[i];
    d_v += d_force * damping;
  }
  return {d_a, d_damping};
}

inline double root_gradient(double a) {
  std::vector<double> xs;
  double x = a;
  while (std::abs(x * x - a) > 1e-12) {
    xs.push_back(x);
    x = (x + a / x) / 2;
  }
  double d_x = 1, d_a = 0;
  for (std::size_t i = xs.size(); i-- > 0;) {
    const double half = d_x / 2, quotient = half / xs[i];
    d_a += quotient;
    d_x = half - quotient * a / xs[i];
  }
  return d_a + d_x;
}

}  // namespace by_hand
