// Gradients of programs on numbers and short vectors: what by_hand/scalars.cc has by hand.
#include <array>

#include "bench/programs/tlaloc/programs.h"

namespace bench {
namespace {

using Real = tl::Scalar<double>;
using Count = tl::Scalar<std::int64_t>;

Real swing(Real angle, Real damping, Count steps) {
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

/// The sum of many square roots by Newton's method: one call has more work than calling costs.
Real roots(Real from, Count n) {
  return tl::fori_loop(
      Count(0), n,
      [=](Count i, Real sum) {
        const Real a = from + tl::cast<double>(i);
        return sum + tl::while_loop([=](Real x) { return tl::abs(x * x - a) > 1e-12; },
                                    [=](Real x) { return (x + a / x) / 2; }, a);
      },
      Real(0.0));
}

/// The prey of a Lotka-Volterra system after so many RK4 steps.
Real prey(Real birth, Real catching, Real growth, Real death, Count steps) {
  using State = std::tuple<Real, Real>;
  const auto slope = [=](Real x, Real y) {
    return State(x * (birth - catching * y), y * (growth * x - death));
  };
  const auto [x, y] = tl::fori_loop(
      Count(0), steps,
      [=](Count, const State& s) {
        const auto& [x, y] = s;
        const auto [x1, y1] = slope(x, y);
        const auto [x2, y2] = slope(x + 0.005 * x1, y + 0.005 * y1);
        const auto [x3, y3] = slope(x + 0.005 * x2, y + 0.005 * y2);
        const auto [x4, y4] = slope(x + 0.01 * x3, y + 0.01 * y3);
        return State(x + 0.01 / 6 * (x1 + 2 * x2 + 2 * x3 + x4),
                     y + 0.01 / 6 * (y1 + 2 * y2 + 2 * y3 + y4));
      },
      State(1.0, 0.5));
  return x;
}

constexpr std::size_t kBodies = 5;
using Vectors = std::array<std::array<Real, 3>, kBodies>;
/// The sum of the first body's coordinates after so many steps of symplectic Euler.
Real flight(const Vectors& places, const Vectors& speeds, Count steps) {
  using State = std::tuple<Vectors, Vectors>;
  const auto [x, v] = tl::fori_loop(
      Count(0), steps,
      [](Count, const State& s) {
        auto [x, v] = s;
        for (std::size_t i = 0; i < kBodies; ++i) {
          for (std::size_t j = i + 1; j < kBodies; ++j) {
            std::array<Real, 3> d;
            for (std::size_t k = 0; k < 3; ++k) d[k] = x[i][k] - x[j][k];
            const Real square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
            const Real pull = 0.001 / (square * tl::sqrt(square));
            for (std::size_t k = 0; k < 3; ++k) {
              v[i][k] = v[i][k] - pull * d[k];
              v[j][k] = v[j][k] + pull * d[k];
            }
          }
        }
        for (std::size_t i = 0; i < kBodies; ++i)
          for (std::size_t k = 0; k < 3; ++k) x[i][k] = x[i][k] + 0.01 * v[i][k];
        return State(x, v);
      },
      State(places, speeds));
  return x[0][0] + x[0][1] + x[0][2];
}

constexpr int kOrder = 6;
using Square = tl::Tensor<double, kOrder, kOrder>;
/// The determinant of the rows from `row` on and the columns that are left.
Real minor(const std::array<std::array<Real, kOrder>, kOrder>& a, int row, unsigned columns) {
  Real sum = 0.0;
  bool even = true, first = true;
  for (unsigned c = 0; c < kOrder; ++c) {
    if ((columns >> c & 1) == 0) continue;
    Real term = a[static_cast<std::size_t>(row)][c];
    if (row + 1 < kOrder) term = term * minor(a, row + 1, columns & ~(1u << c));
    sum = first ? term : even ? sum + term : sum - term;
    even = !even;
    first = false;
  }
  return sum;
}

constexpr int kHidden = 8, kInput = 4;
using Gates = tl::Tensor<double, kInput + kHidden, 4 * kHidden>;
using Hidden = tl::Tensor<double, kHidden>;
inline constexpr tl::Axis<struct Steps> time_steps;
using Sequence = tl::Tensor<double, time_steps, kInput>;
Real remember(const Gates& w, const tl::Tensor<double, 4 * kHidden>& b, const Sequence& xs) {
  using State = std::tuple<Hidden, Hidden>;
  const Hidden zero = tl::zeros<double, kHidden>();
  const auto [last, outputs] = tl::scan(
      [&](const State& s, const tl::Tensor<double, kInput>& x) {
        const auto& [h, c] = s;
        const auto [in, forget, out, cell] =
            tl::split<0, 4>(tl::matmul(tl::concat<0>(x, h), w) + b);
        const Hidden next_c = tl::sigmoid(forget) * c + tl::sigmoid(in) * tl::tanh(cell);
        const Hidden next_h = tl::sigmoid(out) * tl::tanh(next_c);
        return std::pair(State(next_h, next_c), Real(0.0));
      },
      State(zero, zero), xs);
  return tl::sum(std::get<0>(last));
}

inline constexpr tl::Axis<struct Points> points;
constexpr int kParts = 5, kWidth = 4;
using Parts = tl::Tensor<double, kParts>;
using Centers = tl::Tensor<double, kParts, kWidth>;
/// -log likelihood of a mixture of Gaussians with diagonal covariances, without constants.
Real unlikeliness(const Parts& weights, const Centers& centers, const Centers& log_scales,
                  const tl::Tensor<double, points, kWidth>& x) {
  const auto off = (tl::expand<1>(x) - tl::expand<0>(centers)) *
                   tl::expand<0>(tl::exp(log_scales));  // [points, parts, width]
  const auto each = weights + tl::sum<1>(log_scales) - 0.5 * tl::sum<2>(off * off);
  return -tl::sum(tl::logsumexp<1>(each) - tl::logsumexp(weights));
}

double shift(std::int64_t i) { return 1e-3 * static_cast<double>(i % 100); }
template <class X>
X values(std::uint32_t seed, double scale = 1) {
  X x;
  fill(x, seed, scale);
  return x;
}
template <class... X>
double total(const X&... xs) {
  double sum = 0;
  const auto add = [&](const auto& x) {
    for (const double d : x.data()) sum += d;
  };
  (add(xs), ...);
  return sum;
}

}  // namespace

void pendulum(std::int64_t steps) {
  const auto f = tl::jit(tl::grad(swing, tl::argnums<0, 1>));
  serve([&](std::int64_t i) {
    const auto [a, d] = f(Real(1.0 + shift(i)), Real(0.1), Count(steps));
    return a.item() + d.item();
  });
}

void newton(std::int64_t count) {
  const auto f = tl::jit(tl::grad(roots));
  serve([&](std::int64_t i) { return f(Real(2.0 + shift(i)), Count(count)).item(); });
}

void rk4(std::int64_t steps) {
  const auto f = tl::jit(tl::grad(prey, tl::argnums<0, 1, 2, 3>));
  serve([&](std::int64_t i) {
    const auto [b, c, g, d] = f(1.1 + shift(i), 0.4, 0.1, 0.4, Count(steps));
    return b.item() + c.item() + g.item() + d.item();
  });
}

void nbody(std::int64_t steps) {
  const std::vector<double> x = uniform<double>(1, 3 * kBodies),
                            v = uniform<double>(2, 3 * kBodies);
  Vectors places, speeds;
  for (std::size_t i = 0; i < kBodies; ++i) {
    for (std::size_t k = 0; k < 3; ++k) {
      places[i][k] = x[3 * i + k];
      speeds[i][k] = v[3 * i + k];
    }
  }
  const auto f = tl::jit(tl::grad(flight, tl::argnums<0, 1>));
  serve([&](std::int64_t i) {
    places[0][0] = x[0] + shift(i);
    const auto [dx, dv] = f(places, speeds, Count(steps));
    return dx[1][0].item() + dv[2][1].item();
  });
}

void determinant(std::int64_t) {
  const Square a = values<Square>(1);
  const auto f = tl::jit(tl::grad([](const Square& a, Real shift) {
    std::array<std::array<Real, kOrder>, kOrder> elements;
    for (std::size_t i = 0; i < kOrder; ++i)
      for (std::size_t j = 0; j < kOrder; ++j)
        elements[i][j] = a[static_cast<std::int64_t>(i)][static_cast<std::int64_t>(j)];
    elements[0][0] = elements[0][0] + shift;
    return minor(elements, 0, (1u << kOrder) - 1);
  }));
  serve([&](std::int64_t i) { return total(f(a, shift(i))); });
}

void lstm(std::int64_t steps) {
  const Gates w = values<Gates>(1, 0.5);
  const auto b = values<tl::Tensor<double, 4 * kHidden>>(2);
  const Sequence xs =
      Sequence::from(uniform<double>(101, static_cast<std::size_t>(steps) * kInput));
  const auto f = tl::jit(
      [](const Gates& w, const tl::Tensor<double, 4 * kHidden>& b, const Sequence& xs,
         const Real& shift) { return tl::grad(remember, tl::argnums<0, 1>)(w, b + shift, xs); });
  serve([&](std::int64_t i) {
    const auto [dw, db] = f(w, b, xs, shift(i));
    return total(dw, db);
  });
}

void log_sum_exp(std::int64_t count) {
  using Vector = tl::Tensor<double, points>;
  const Vector x = Vector::from(uniform<double>(101, static_cast<std::size_t>(count), 3));
  const auto f = tl::jit([](const Vector& x, const Real& a) {
    return tl::grad([](const Vector& x) { return tl::logsumexp(x); })(x * a);
  });
  serve([&](std::int64_t i) { return f(x, 1 + shift(i)).data().back(); });
}

void mixture(std::int64_t count) {
  using Data = tl::Tensor<double, points, kWidth>;
  const Data x = Data::from(uniform<double>(101, static_cast<std::size_t>(count) * kWidth));
  const Parts weights = values<Parts>(1);
  const Centers centers = values<Centers>(2), log_scales = values<Centers>(3);
  const auto f = tl::jit([](const Parts& weights, const Centers& centers, const Centers& log_scales,
                            const Data& x, const Real& shift) {
    return tl::grad(unlikeliness, tl::argnums<0, 1, 2>)(weights, centers + shift, log_scales, x);
  });
  serve([&](std::int64_t i) {
    const auto [dw, dc, ds] = f(weights, centers, log_scales, x, shift(i));
    return dw.data()[0] + total(dc, ds);
  });
}

}  // namespace bench
