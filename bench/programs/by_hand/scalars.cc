// The gradients of tlaloc/scalars.cc as a person writes them: the adjoint of each line in reverse
// order, with what it reads kept in arrays.
#include <array>
#include <cmath>
#include <vector>

#include "bench/printed/by_hand.h"
#include "bench/programs/by_hand/programs.h"

namespace bench {
namespace {

struct Rates {
  double birth, catching, growth, death;
};
Rates prey_gradient(const Rates& r, std::size_t steps) {
  struct State {
    double x, y;
  };
  const auto slope = [&](const State& s) {
    return State{s.x * (r.birth - r.catching * s.y), s.y * (r.growth * s.x - r.death)};
  };
  const auto ahead = [](const State& s, double h, const State& k) {
    return State{s.x + h * k.x, s.y + h * k.y};
  };
  constexpr double kStep = 0.01;
  std::vector<State> states(steps);
  State s{1, 0.5};
  for (State& kept : states) {
    kept = s;
    const State k1 = slope(s), k2 = slope(ahead(s, kStep / 2, k1)),
                k3 = slope(ahead(s, kStep / 2, k2)), k4 = slope(ahead(s, kStep, k3));
    s.x += kStep / 6 * (k1.x + 2 * k2.x + 2 * k3.x + k4.x);
    s.y += kStep / 6 * (k1.y + 2 * k2.y + 2 * k3.y + k4.y);
  }
  Rates g{};
  State d{1, 0};
  // The adjoint of slope at s for the cotangent c.
  const auto back = [&](const State& s, const State& c) {
    g.birth += c.x * s.x;
    g.catching -= c.x * s.x * s.y;
    g.growth += c.y * s.x * s.y;
    g.death -= c.y * s.y;
    return State{c.x * (r.birth - r.catching * s.y) + c.y * s.y * r.growth,
                 -c.x * s.x * r.catching + c.y * (r.growth * s.x - r.death)};
  };
  for (std::size_t i = steps; i-- > 0;) {
    const State s1 = states[i], k1 = slope(s1), s2 = ahead(s1, kStep / 2, k1), k2 = slope(s2),
                s3 = ahead(s1, kStep / 2, k2), k3 = slope(s3), s4 = ahead(s1, kStep, k3);
    const State d4 = back(s4, {kStep / 6 * d.x, kStep / 6 * d.y});
    const State d3 = back(s3, {kStep / 3 * d.x + kStep * d4.x, kStep / 3 * d.y + kStep * d4.y});
    const State d2 =
        back(s2, {kStep / 3 * d.x + kStep / 2 * d3.x, kStep / 3 * d.y + kStep / 2 * d3.y});
    const State d1 =
        back(s1, {kStep / 6 * d.x + kStep / 2 * d2.x, kStep / 6 * d.y + kStep / 2 * d2.y});
    d.x += d1.x + d2.x + d3.x + d4.x;
    d.y += d1.y + d2.y + d3.y + d4.y;
  }
  return g;
}

constexpr std::size_t kBodies = 5;
using Vectors = std::array<std::array<double, 3>, kBodies>;
/// Gradients of the places and the speeds, in their place.
void flight_gradient(Vectors& x, Vectors& v, std::size_t steps) {
  std::vector<Vectors> places(steps);
  for (Vectors& kept : places) {
    kept = x;
    for (std::size_t i = 0; i < kBodies; ++i) {
      for (std::size_t j = i + 1; j < kBodies; ++j) {
        double d[3];
        for (std::size_t k = 0; k < 3; ++k) d[k] = x[i][k] - x[j][k];
        const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
        const double pull = 0.001 / (square * std::sqrt(square));
        for (std::size_t k = 0; k < 3; ++k) {
          v[i][k] -= pull * d[k];
          v[j][k] += pull * d[k];
        }
      }
    }
    for (std::size_t i = 0; i < kBodies; ++i)
      for (std::size_t k = 0; k < 3; ++k) x[i][k] += 0.01 * v[i][k];
  }
  Vectors dx{}, dv{};
  dx[0] = {1, 1, 1};
  for (std::size_t s = steps; s-- > 0;) {
    const Vectors& at = places[s];
    for (std::size_t i = 0; i < kBodies; ++i)
      for (std::size_t k = 0; k < 3; ++k) dv[i][k] += 0.01 * dx[i][k];
    for (std::size_t i = 0; i < kBodies; ++i) {
      for (std::size_t j = i + 1; j < kBodies; ++j) {
        double d[3], dd[3], d_pull = 0;
        for (std::size_t k = 0; k < 3; ++k) d[k] = at[i][k] - at[j][k];
        const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
        const double pull = 0.001 / (square * std::sqrt(square));
        for (std::size_t k = 0; k < 3; ++k) {
          const double difference = dv[j][k] - dv[i][k];
          d_pull += difference * d[k];
          dd[k] = difference * pull;
        }
        const double d_square = -1.5 * pull / square * d_pull;
        for (std::size_t k = 0; k < 3; ++k) {
          dd[k] += 2 * d[k] * d_square;
          dx[i][k] += dd[k];
          dx[j][k] -= dd[k];
        }
      }
    }
  }
  x = dx;
  v = dv;
}

constexpr int kOrder = 6;
using Square = std::array<std::array<double, kOrder>, kOrder>;
double minor(const Square& a, int row, unsigned columns) {
  if (row == kOrder) return 1;
  double sum = 0, sign = 1;
  for (unsigned c = 0; c < kOrder; ++c) {
    if ((columns >> c & 1) == 0) continue;
    sum += sign * a[static_cast<std::size_t>(row)][c] * minor(a, row + 1, columns & ~(1u << c));
    sign = -sign;
  }
  return sum;
}
/// Adds to g the gradient of seed · minor(a, row, columns).
void minor_gradient(const Square& a, int row, unsigned columns, double seed, Square& g) {
  if (row == kOrder) return;
  const auto r = static_cast<std::size_t>(row);
  double sign = seed;
  for (unsigned c = 0; c < kOrder; ++c) {
    if ((columns >> c & 1) == 0) continue;
    const unsigned left = columns & ~(1u << c);
    g[r][c] += sign * minor(a, row + 1, left);
    minor_gradient(a, row + 1, left, sign * a[r][c], g);
    sign = -sign;
  }
}

constexpr std::size_t kHidden = 8, kInput = 4, kWide = 4 * kHidden, kRead = kInput + kHidden;
struct LstmGradient {
  std::array<double, kRead * kWide> w;
  std::array<double, kWide> b;
};
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
LstmGradient remember_gradient(const std::vector<double>& w, const std::vector<double>& b,
                               double shift, const std::vector<double>& xs) {
  struct Step {
    double read[kRead], gates[kWide], cell[kHidden], squashed[kHidden];
  };
  const std::size_t steps = xs.size() / kInput;
  std::vector<Step> kept(steps);
  double h[kHidden] = {}, c[kHidden] = {};
  for (std::size_t t = 0; t < steps; ++t) {
    Step& s = kept[t];
    for (std::size_t i = 0; i < kInput; ++i) s.read[i] = xs[t * kInput + i];
    for (std::size_t i = 0; i < kHidden; ++i) s.read[kInput + i] = h[i];
    for (std::size_t j = 0; j < kWide; ++j) s.gates[j] = b[j] + shift;
    for (std::size_t i = 0; i < kRead; ++i)
      for (std::size_t j = 0; j < kWide; ++j) s.gates[j] += s.read[i] * w[i * kWide + j];
    for (std::size_t j = 0; j < 3 * kHidden; ++j) s.gates[j] = sigmoid(s.gates[j]);
    for (std::size_t j = 3 * kHidden; j < kWide; ++j) s.gates[j] = std::tanh(s.gates[j]);
    for (std::size_t i = 0; i < kHidden; ++i) {
      s.cell[i] = c[i];
      c[i] = s.gates[kHidden + i] * c[i] + s.gates[i] * s.gates[3 * kHidden + i];
      s.squashed[i] = std::tanh(c[i]);
      h[i] = s.gates[2 * kHidden + i] * s.squashed[i];
    }
  }
  LstmGradient g{};
  double dh[kHidden], dc[kHidden] = {};
  for (double& d : dh) d = 1;
  for (std::size_t t = steps; t-- > 0;) {
    const Step& s = kept[t];
    double d_gates[kWide];
    for (std::size_t i = 0; i < kHidden; ++i) {
      const double in = s.gates[i], forget = s.gates[kHidden + i], out = s.gates[2 * kHidden + i],
                   cell = s.gates[3 * kHidden + i];
      dc[i] += dh[i] * out * (1 - s.squashed[i] * s.squashed[i]);
      d_gates[i] = dc[i] * cell * in * (1 - in);
      d_gates[kHidden + i] = dc[i] * s.cell[i] * forget * (1 - forget);
      d_gates[2 * kHidden + i] = dh[i] * s.squashed[i] * out * (1 - out);
      d_gates[3 * kHidden + i] = dc[i] * in * (1 - cell * cell);
      dc[i] *= forget;
    }
    for (std::size_t j = 0; j < kWide; ++j) g.b[j] += d_gates[j];
    for (std::size_t i = 0; i < kRead; ++i)
      for (std::size_t j = 0; j < kWide; ++j) g.w[i * kWide + j] += s.read[i] * d_gates[j];
    for (std::size_t i = 0; i < kHidden; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < kWide; ++j) sum += w[(kInput + i) * kWide + j] * d_gates[j];
      dh[i] = sum;
    }
  }
  return g;
}

void log_sum_exp_gradient(const std::vector<double>& x, double scale, std::vector<double>& g) {
  double top = -INFINITY, sum = 0;
  for (const double v : x) top = std::max(top, v * scale);
  for (std::size_t i = 0; i < x.size(); ++i) {
    g[i] = std::exp(x[i] * scale - top);
    sum += g[i];
  }
  const double factor = 1 / sum;
  for (double& v : g) v *= factor;
}

constexpr std::size_t kParts = 5, kWidth = 4;
struct MixtureGradient {
  double weights[kParts], centers[kParts * kWidth], log_scales[kParts * kWidth];
};
MixtureGradient unlikeliness_gradient(const std::vector<double>& weights,
                                      const std::vector<double>& centers, double shift,
                                      const std::vector<double>& log_scales,
                                      const std::vector<double>& x) {
  MixtureGradient g{};
  double scales[kParts * kWidth], offset[kParts];
  for (std::size_t k = 0; k < kParts; ++k) {
    offset[k] = weights[k];
    for (std::size_t j = k * kWidth; j < (k + 1) * kWidth; ++j) {
      scales[j] = std::exp(log_scales[j]);
      offset[k] += log_scales[j];
    }
  }
  const std::size_t count = x.size() / kWidth;
  for (std::size_t i = 0; i < count; ++i) {
    double off[kParts * kWidth], each[kParts], top = -INFINITY, sum = 0;
    for (std::size_t k = 0; k < kParts; ++k) {
      double square = 0;
      for (std::size_t w = 0; w < kWidth; ++w) {
        const std::size_t j = k * kWidth + w;
        off[j] = (x[i * kWidth + w] - (centers[j] + shift)) * scales[j];
        square += off[j] * off[j];
      }
      each[k] = offset[k] - 0.5 * square;
      top = std::max(top, each[k]);
    }
    for (double& e : each) {
      e = std::exp(e - top);
      sum += e;
    }
    for (std::size_t k = 0; k < kParts; ++k) {
      const double share = each[k] / sum;
      g.weights[k] -= share;
      for (std::size_t j = k * kWidth; j < (k + 1) * kWidth; ++j) {
        g.centers[j] -= share * off[j] * scales[j];
        g.log_scales[j] -= share * (1 - off[j] * off[j]);
      }
    }
  }
  double top = -INFINITY, sum = 0;
  for (const double w : weights) top = std::max(top, w);
  for (const double w : weights) sum += std::exp(w - top);
  for (std::size_t k = 0; k < kParts; ++k)
    g.weights[k] += static_cast<double>(count) * std::exp(weights[k] - top) / sum;
  return g;
}

double shift(std::int64_t i) { return 1e-3 * static_cast<double>(i % 100); }
template <class X>
double total(const X& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum;
}

}  // namespace

void pendulum(std::int64_t steps) {
  serve([&](std::int64_t i) {
    const auto g = by_hand::pendulum_gradient(1 + shift(i), 0.1, steps);
    return g.angle + g.damping;
  });
}

void newton(std::int64_t count) {
  serve([&](std::int64_t i) {
    double sum = 0;
    for (std::int64_t k = 0; k < count; ++k)
      sum += by_hand::root_gradient(2 + shift(i) + static_cast<double>(k));
    return sum;
  });
}

void rk4(std::int64_t steps) {
  serve([&](std::int64_t i) {
    const Rates g = prey_gradient({1.1 + shift(i), 0.4, 0.1, 0.4}, static_cast<std::size_t>(steps));
    return g.birth + g.catching + g.growth + g.death;
  });
}

void nbody(std::int64_t steps) {
  const std::vector<double> xs = uniform<double>(1, 3 * kBodies),
                            vs = uniform<double>(2, 3 * kBodies);
  serve([&](std::int64_t i) {
    Vectors x, v;
    for (std::size_t b = 0; b < kBodies; ++b) {
      for (std::size_t k = 0; k < 3; ++k) {
        x[b][k] = xs[3 * b + k];
        v[b][k] = vs[3 * b + k];
      }
    }
    x[0][0] += shift(i);
    flight_gradient(x, v, static_cast<std::size_t>(steps));
    return x[1][0] + v[2][1];
  });
}

void determinant(std::int64_t) {
  const std::vector<double> values = uniform<double>(1, kOrder * kOrder);
  serve([&](std::int64_t i) {
    Square a, g{};
    for (std::size_t j = 0; j < values.size(); ++j) a[j / kOrder][j % kOrder] = values[j];
    a[0][0] += shift(i);
    minor_gradient(a, 0, (1u << kOrder) - 1, 1, g);
    double sum = 0;
    for (const auto& row : g) sum += total(row);
    return sum;
  });
}

void lstm(std::int64_t steps) {
  const std::vector<double> w = uniform<double>(1, kRead * kWide, 0.5),
                            b = uniform<double>(2, kWide),
                            xs = uniform<double>(101, static_cast<std::size_t>(steps) * kInput);
  serve([&](std::int64_t i) {
    const LstmGradient g = remember_gradient(w, b, shift(i), xs);
    return total(g.w) + total(g.b);
  });
}

void log_sum_exp(std::int64_t count) {
  const std::vector<double> x = uniform<double>(101, static_cast<std::size_t>(count), 3);
  serve([&](std::int64_t i) {
    std::vector<double> g(x.size());
    log_sum_exp_gradient(x, 1 + shift(i), g);
    return g.back();
  });
}

void mixture(std::int64_t count) {
  const std::vector<double> x = uniform<double>(101, static_cast<std::size_t>(count) * kWidth),
                            weights = uniform<double>(1, kParts),
                            centers = uniform<double>(2, kParts * kWidth),
                            log_scales = uniform<double>(3, kParts * kWidth);
  serve([&](std::int64_t i) {
    const MixtureGradient g = unlikeliness_gradient(weights, centers, shift(i), log_scales, x);
    return g.weights[0] + total(g.centers) + total(g.log_scales);
  });
}

}  // namespace bench
