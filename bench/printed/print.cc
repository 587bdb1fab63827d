// Prints three programs and their gradients as C++, for measure.py.
#include <tlaloc/lang/source.h>
#include <tlaloc/tlaloc.h>

#include <cmath>
#include <iostream>
#include <tuple>

namespace {

using Real = tl::Scalar<double>;
using Count = tl::Scalar<std::int64_t>;

Real option_price(Real spot, Real strike, Real rate, Real volatility, Real years) {
  auto normal = [](Real x) { return 0.5 * tl::erfc(-x / std::sqrt(2.0)); };
  const Real deviation = volatility * tl::sqrt(years);
  const Real d1 =
      (tl::log(spot / strike) + (rate + volatility * volatility / 2) * years) / deviation;
  return spot * normal(d1) - strike * tl::exp(-rate * years) * normal(d1 - deviation);
}

Real pendulum(Real angle, Real damping, Count steps) {
  using State = std::tuple<Real, Real>;
  const auto [a, v] = tl::fori_loop(
      Count(0), steps,
      [=](Count, const State& s) {
        const auto& [a, v] = s;
        const Real next = v - 0.01 * (9.81 * tl::sin(a) + damping * v);
        return State(a + 0.01 * next, next);
      },
      State(angle, 0.0));
  return a;
}

Real root(Real a) {
  return tl::while_loop([=](Real x) { return tl::abs(x * x - a) > 1e-12; },
                        [=](Real x) { return (x + a / x) / 2; }, a);
}

}  // namespace

int main() {
  auto show = [](const char* name, auto f, const auto&... args) {
    std::cout << tl::to_source(f, {name, {}, tl::SourceMode::plain})(args...) << "\n";
  };
  const Real x = 1.5;
  show("option_price", option_price, x, x, x, x, x);
  show("option_price_gradient", tl::grad(option_price, tl::argnums<0, 1, 2, 3, 4>), x, x, x, x, x);
  show("pendulum", pendulum, x, x, Count(1));
  show("pendulum_gradient", tl::grad(pendulum, tl::argnums<0, 1>), x, x, Count(1));
  show("root", root, x);
  show("root_gradient", tl::grad(root), x);
}
