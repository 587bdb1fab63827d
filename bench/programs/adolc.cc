// The scalar programs by ADOL-C: recorded once where the flow of control does not depend on values,
// each time where it does.
#include <adolc/adolc.h>

#include <array>
#include <cmath>
#include <functional>

#include "bench/programs/serve.h"

namespace {

using Inputs = std::vector<double>;
using Function = std::function<adouble(const std::vector<adouble>&)>;

std::vector<double> gradient(const Function& f, const Inputs& at, bool record) {
  const int n = static_cast<int>(at.size());
  if (record) {
    trace_on(1);
    std::vector<adouble> x(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) x[i] <<= at[i];
    double y = 0;
    f(x) >>= y;
    trace_off();
  }
  std::vector<double> g(at.size());
  ::gradient(1, n, at.data(), g.data());
  return g;
}
double shift(std::int64_t i) { return 1e-3 * static_cast<double>(i % 100); }

void pendulum(std::int64_t steps) {
  const Function f = [=](const std::vector<adouble>& x) {
    adouble a = x[0], v = 0;
    for (std::int64_t i = 0; i < steps; ++i) {
      v -= 0.01 * (9.81 * sin(a) + x[1] * v);
      a += 0.01 * v;
    }
    return a;
  };
  bench::serve([&](std::int64_t i) {
    const auto g = gradient(f, {1 + shift(i), 0.1}, i == 0);
    return g[0] + g[1];
  });
}

void newton(std::int64_t count) {
  const Function f = [=](const std::vector<adouble>& x) {
    adouble sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const adouble a = x[0] + static_cast<double>(i);
      adouble r = a;
      while (fabs(r.value() * r.value() - a.value()) > 1e-12) r = (r + a / r) / 2;
      sum += r;
    }
    return sum;
  };
  bench::serve([&](std::int64_t i) { return gradient(f, {2 + shift(i)}, true)[0]; });
}

void rk4(std::int64_t steps) {
  const Function f = [=](const std::vector<adouble>& r) {
    adouble x = 1, y = 0.5, kx[4], ky[4];
    const auto slope = [&](int k, const adouble& px, const adouble& py) {
      kx[k] = px * (r[0] - r[1] * py);
      ky[k] = py * (r[2] * px - r[3]);
    };
    for (std::int64_t i = 0; i < steps; ++i) {
      slope(0, x, y);
      slope(1, x + 0.005 * kx[0], y + 0.005 * ky[0]);
      slope(2, x + 0.005 * kx[1], y + 0.005 * ky[1]);
      slope(3, x + 0.01 * kx[2], y + 0.01 * ky[2]);
      x += 0.01 / 6 * (kx[0] + 2 * kx[1] + 2 * kx[2] + kx[3]);
      y += 0.01 / 6 * (ky[0] + 2 * ky[1] + 2 * ky[2] + ky[3]);
    }
    return x;
  };
  bench::serve([&](std::int64_t i) {
    double sum = 0;
    for (const double d : gradient(f, {1.1 + shift(i), 0.4, 0.1, 0.4}, i == 0)) sum += d;
    return sum;
  });
}

void nbody(std::int64_t steps) {
  const Function f = [=](const std::vector<adouble>& start) {
    constexpr std::size_t kBodies = 5;
    std::vector<adouble> x(start.begin(), start.begin() + 15), v(start.begin() + 15, start.end());
    for (std::int64_t s = 0; s < steps; ++s) {
      for (std::size_t i = 0; i < kBodies; ++i) {
        for (std::size_t j = i + 1; j < kBodies; ++j) {
          adouble d[3];
          for (std::size_t k = 0; k < 3; ++k) d[k] = x[3 * i + k] - x[3 * j + k];
          const adouble square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01;
          const adouble pull = 0.001 / (square * sqrt(square));
          for (std::size_t k = 0; k < 3; ++k) {
            v[3 * i + k] -= pull * d[k];
            v[3 * j + k] += pull * d[k];
          }
        }
      }
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += 0.01 * v[i];
    }
    return adouble(x[0] + x[1] + x[2]);
  };
  Inputs at = bench::uniform<double>(1, 15);
  const Inputs speeds = bench::uniform<double>(2, 15);
  at.insert(at.end(), speeds.begin(), speeds.end());
  const double first = at[0];
  bench::serve([&](std::int64_t i) {
    at[0] = first + shift(i);
    const auto g = gradient(f, at, i == 0);
    return g[3] + g[15 + 7];
  });
}

constexpr int kOrder = 6;
adouble minor(const std::vector<adouble>& a, int row, unsigned columns) {
  adouble sum = 0;
  bool even = true;
  for (unsigned c = 0; c < kOrder; ++c) {
    if ((columns >> c & 1) == 0) continue;
    const adouble& element = a[static_cast<std::size_t>(row) * kOrder + c];
    const adouble term =
        row + 1 < kOrder ? adouble(element * minor(a, row + 1, columns & ~(1u << c))) : element;
    if (even)
      sum += term;
    else
      sum -= term;
    even = !even;
  }
  return sum;
}
void determinant(std::int64_t) {
  Inputs at = bench::uniform<double>(1, kOrder * kOrder);
  const double first = at[0];
  const Function f = [](const std::vector<adouble>& a) { return minor(a, 0, (1u << kOrder) - 1); };
  bench::serve([&](std::int64_t i) {
    at[0] = first + shift(i);
    double sum = 0;
    for (const double d : gradient(f, at, i == 0)) sum += d;
    return sum;
  });
}

void lstm(std::int64_t steps) {
  constexpr std::size_t kHidden = 8, kInput = 4, kWide = 4 * kHidden, kRead = kInput + kHidden;
  const Inputs xs = bench::uniform<double>(101, static_cast<std::size_t>(steps) * kInput),
               b = bench::uniform<double>(2, kWide);
  Inputs at = bench::uniform<double>(1, kRead * kWide, 0.5);
  at.insert(at.end(), b.begin(), b.end());
  const Function f = [&](const std::vector<adouble>& p) {
    const auto sigmoid = [](const adouble& x) { return adouble(1 / (1 + exp(-x))); };
    std::vector<adouble> h(kHidden, 0), c(kHidden, 0), gates(kWide);
    for (std::size_t t = 0; t < static_cast<std::size_t>(steps); ++t) {
      for (std::size_t j = 0; j < kWide; ++j) {
        gates[j] = p[kRead * kWide + j];
        for (std::size_t i = 0; i < kInput; ++i) gates[j] += xs[t * kInput + i] * p[i * kWide + j];
        for (std::size_t i = 0; i < kHidden; ++i) gates[j] += h[i] * p[(kInput + i) * kWide + j];
      }
      for (std::size_t i = 0; i < kHidden; ++i) {
        c[i] =
            sigmoid(gates[kHidden + i]) * c[i] + sigmoid(gates[i]) * tanh(gates[3 * kHidden + i]);
        h[i] = sigmoid(gates[2 * kHidden + i]) * tanh(c[i]);
      }
    }
    adouble sum = 0;
    for (const adouble& v : h) sum += v;
    return sum;
  };
  bench::serve([&](std::int64_t i) {
    for (std::size_t j = 0; j < kWide; ++j) at[kRead * kWide + j] = b[j] + shift(i);
    double sum = 0;
    for (const double d : gradient(f, at, i == 0)) sum += d;
    return sum;
  });
}

/// log Σ exp x: its largest element is a constant of the record, which cancels.
template <class X>
adouble log_of_sum(const X& x) {
  double top = -INFINITY;
  for (const adouble& v : x) top = std::max(top, v.value());
  adouble sum = 0;
  for (const adouble& v : x) sum += exp(v - top);
  return log(sum) + top;
}
void log_sum_exp(std::int64_t count) {
  const Inputs x = bench::uniform<double>(101, static_cast<std::size_t>(count), 3);
  Inputs at(x.size());
  const Function f = [](const std::vector<adouble>& v) { return log_of_sum(v); };
  bench::serve([&](std::int64_t i) {
    for (std::size_t k = 0; k < x.size(); ++k) at[k] = x[k] * (1 + shift(i));
    return gradient(f, at, i == 0).back();
  });
}

void mixture(std::int64_t count) {
  constexpr std::size_t kParts = 5, kWidth = 4, kCells = kParts * kWidth;
  const Inputs x = bench::uniform<double>(101, static_cast<std::size_t>(count) * kWidth),
               centers = bench::uniform<double>(2, kCells),
               log_scales = bench::uniform<double>(3, kCells);
  Inputs at = bench::uniform<double>(1, kParts);
  at.insert(at.end(), centers.begin(), centers.end());
  at.insert(at.end(), log_scales.begin(), log_scales.end());
  const Function f = [&](const std::vector<adouble>& p) {
    std::array<adouble, kCells> scales;
    std::array<adouble, kParts> offset, each, weights;
    for (std::size_t k = 0; k < kParts; ++k) {
      offset[k] = weights[k] = p[k];
      for (std::size_t j = k * kWidth; j < (k + 1) * kWidth; ++j) {
        scales[j] = exp(p[kParts + kCells + j]);
        offset[k] += p[kParts + kCells + j];
      }
    }
    const adouble all = log_of_sum(weights);
    adouble sum = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      for (std::size_t k = 0; k < kParts; ++k) {
        adouble square = 0;
        for (std::size_t w = 0; w < kWidth; ++w) {
          const std::size_t j = k * kWidth + w;
          const adouble off = (x[i * kWidth + w] - p[kParts + j]) * scales[j];
          square += off * off;
        }
        each[k] = offset[k] - 0.5 * square;
      }
      sum += all - log_of_sum(each);
    }
    return sum;
  };
  bench::serve([&](std::int64_t i) {
    for (std::size_t j = 0; j < kCells; ++j) at[kParts + j] = centers[j] + shift(i);
    const auto g = gradient(f, at, i == 0);
    double sum = g[0];
    for (std::size_t j = kParts; j < g.size(); ++j) sum += g[j];
    return sum;
  });
}

}  // namespace

int main(int argc, char** argv) {
  constexpr bench::Program kPrograms[] = {
      {"pendulum", pendulum},
      {"newton", newton},
      {"rk4", rk4},
      {"nbody", nbody},
      {"determinant", determinant},
      {"lstm", lstm},
      {"log_sum_exp", log_sum_exp},
      {"mixture", mixture},
  };
  return bench::serve_one(kPrograms, argc, argv);
}
