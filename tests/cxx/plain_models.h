// Programs that a C++ engineer would write as loops over numbers, and their gradients as text.
#pragma once

#include <tlaloc/lang/source.h>
#include <tlaloc/tlaloc.h>

#include <cmath>
#include <string>
#include <tuple>

namespace tlaloc::testing {

inline constexpr Axis<struct Count> count;

using Real = Scalar<double>;
using Reals = Tensor<double, count>;
using Ids = Tensor<std::int64_t, count>;

/// The square root by Newton's method, until it converges.
inline Real newton_root(Real a) {
  return while_loop([=](Real x) { return abs(x * x - a) > 1e-12; },
                    [=](Real x) { return (x + a / x) / 2; }, a);
}

/// A damped pendulum by the symplectic Euler method: its angle after the given number of steps.
inline Real pendulum(Real angle, Real damping, Scalar<std::int64_t> steps) {
  using State = std::tuple<Real, Real>;
  const auto [a, v] = fori_loop(
      Scalar<std::int64_t>(0), steps,
      [=](Scalar<std::int64_t>, const State& s) {
        const auto& [a, v] = s;
        const Real next = v - 0.01 * (9.81 * sin(a) + damping * v);
        return State(a + 0.01 * next, next);
      },
      State(angle, 0.0));
  return a;
}

/// The Van der Pol oscillator by the classic Runge-Kutta method.
inline Real van_der_pol(Real x, Real mu) {
  using State = std::tuple<Real, Real>;
  const double h = 0.05;
  auto f = [=](Real p, Real v) { return State(v, mu * (1 - p * p) * v - p); };
  const auto [p, v] = fori_loop(
      0, 100,
      [=](Scalar<int>, const State& s) {
        const auto& [p, v] = s;
        const auto [p1, v1] = f(p, v);
        const auto [p2, v2] = f(p + h / 2 * p1, v + h / 2 * v1);
        const auto [p3, v3] = f(p + h / 2 * p2, v + h / 2 * v2);
        const auto [p4, v4] = f(p + h * p3, v + h * v3);
        return State(p + h / 6 * (p1 + 2 * p2 + 2 * p3 + p4),
                     v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4));
      },
      State(x, 0.0));
  return p;
}

/// A European call option by Black and Scholes.
inline Real option_price(Real spot, Real strike, Real rate, Real volatility, Real years) {
  auto normal = [](Real x) { return 0.5 * erfc(-x / std::sqrt(2.0)); };
  const Real deviation = volatility * sqrt(years);
  const Real d1 = (log(spot / strike) + (rate + volatility * volatility / 2) * years) / deviation;
  return spot * normal(d1) - strike * exp(-rate * years) * normal(d1 - deviation);
}

/// Squared distance of a planar arm's hand from a target; every joint turns what follows it.
inline Real arm_distance(Reals angles, Reals lengths, Real x, Real y) {
  using State = std::tuple<Real, Real, Real>;
  const auto [hand, unused] = scan(
      [](const State& s, const std::tuple<Real, Real>& joint) {
        const auto& [turn, px, py] = s;
        const auto& [angle, length] = joint;
        const Real next = turn + angle;
        return std::pair(State(next, px + length * cos(next), py + length * sin(next)),
                         std::tuple<>());
      },
      State(0.0, 0.0, 0.0), std::tuple(angles, lengths));
  const auto& [turn, px, py] = hand;
  return (px - x) * (px - x) + (py - y) * (py - y);
}

/// The trace of exp(t a) by its series.
inline Real exponential_trace(Tensor<double, 2, 2> a, Real t) {
  using M = Tensor<double, 2, 2>;
  const M one = eye<double, 2, 2>();
  const auto [sum_, term] = fori_loop(
      1, 13,
      [=](Scalar<int> k, const std::tuple<M, M>& s) {
        const auto& [total, term] = s;
        const M next = matmul(term, a) * (t / cast<double>(k));
        return std::tuple<M, M>(total + next, next);
      },
      std::tuple<M, M>(one, one));
  return sum(sum_ * one);
}

/// The sum of squared distances of numbers from the nearest of three centres.
inline Real k_means(Reals points, Tensor<double, 3> centres) {
  const auto [total, unused] = scan(
      [=](Real s, Real p) {
        const auto d = p - centres;
        return std::pair(Real(s + min(d * d)), std::tuple<>());
      },
      Real(0.0), points);
  return total;
}

/// Weights in bins, squared.
inline Real histogram(Reals weights, Ids bins) {
  const auto h = scatter_add<0>(zeros<double, 4>(), bins, weights);
  return sum(h * h);
}

/// The log likelihood of measurements under a one-dimensional Kalman filter.
inline Real kalman(Reals measured, Real process, Real noise) {
  using State = std::tuple<Real, Real, Real>;
  const auto [last, unused] = scan(
      [=](const State& s, Real z) {
        const auto& [x, p, likelihood] = s;
        const Real predicted = p + process;
        const Real innovation = z - x, variance = predicted + noise;
        const Real gain = predicted / variance;
        return std::pair(
            State(x + gain * innovation, (1 - gain) * predicted,
                  likelihood - 0.5 * (log(variance) + innovation * innovation / variance)),
            std::tuple<>());
      },
      State(0.0, 1.0, 0.0), measured);
  return std::get<2>(last);
}

/// How many trips until a point leaves the disc of radius 2.
inline Scalar<std::int64_t> mandelbrot(Real x, Real y) {
  using State = std::tuple<Real, Real, Scalar<std::int64_t>>;
  const auto [re, im, n] = while_loop(
      [](const State& s) {
        const auto& [re, im, n] = s;
        return re * re + im * im <= 4.0 && n < 200;
      },
      [=](const State& s) {
        const auto& [re, im, n] = s;
        return State(re * re - im * im + x, 2.0 * re * im + y, n + 1);
      },
      State(0.0, 0.0, Scalar<std::int64_t>(0)));
  return n;
}

/// Calls visit(name, text) for every program.
template <class F>
void each_plain_program(const F& visit) {
  auto show = [&](const char* name, auto f, std::vector<std::string> names, const auto&... args) {
    visit(name, to_source(f, {name, std::move(names), SourceMode::plain})(args...));
  };
  const auto v = Reals::from({0.5, 0.2, 0.9});
  show("newton_gradient", grad(newton_root), {"a"}, Real(2.0));
  show("pendulum", pendulum, {"angle", "damping", "steps"}, Real(1.0), Real(0.1),
       Scalar<std::int64_t>(100));
  show("pendulum_gradient", grad(pendulum), {"angle", "damping", "steps"}, Real(1.0), Real(0.1),
       Scalar<std::int64_t>(100));
  show("oscillator_gradient", grad(van_der_pol, argnums<0, 1>), {"x", "mu"}, Real(1.0), Real(0.5));
  show("option_greeks", grad(option_price, argnums<0, 3>),
       {"spot", "strike", "rate", "volatility", "years"}, Real(100.0), Real(95.0), Real(0.02),
       Real(0.2), Real(1.0));
  show("arm_gradient", grad(arm_distance), {"angles", "lengths", "x", "y"}, v, v, Real(1.0),
       Real(0.5));
  show("exponential_gradient", grad(exponential_trace), {"a", "t"},
       Tensor<double, 2, 2>::from({0.1, 0.5, -0.5, 0.2}), Real(0.7));
  show("k_means_gradient", grad(k_means, argnums<1>), {"points", "centres"}, v,
       Tensor<double, 3>::from({0.0, 0.5, 1.0}));
  show("histogram_gradient", grad(histogram), {"weights", "bins"}, v, Ids::from({0, 2, 2}));
  show("kalman_gradient", grad(kalman, argnums<1, 2>), {"measured", "process", "noise"}, v,
       Real(0.1), Real(0.3));
  show("mandelbrot", mandelbrot, {"x", "y"}, Real(-0.5), Real(0.5));
}

}  // namespace tlaloc::testing
