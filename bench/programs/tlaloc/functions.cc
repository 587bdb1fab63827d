// Derivatives of functions of tensors: per example, of second order, through a solver, of a linear
// model on much data.
#include "bench/programs/tlaloc/programs.h"

namespace bench {
namespace {

inline constexpr tl::Axis<struct Batch> batch;
constexpr double kStep = 0.01;

struct Classifier {
  tl::Tensor<float, 256, 128> w1;
  tl::Tensor<float, 128> b1;
  tl::Tensor<float, 128, 10> w2;
  tl::Tensor<float, 10> b2;
};
tl::Scalar<float> example_loss(const Classifier& m, const tl::Tensor<float, 256>& x,
                               const tl::Scalar<int>& y) {
  const auto h = tl::tanh(tl::matmul(x, m.w1) + m.b1);
  return tl::cross_entropy(tl::matmul(h, m.w2) + m.b2, y);
}

}  // namespace

/// A step of gradient descent with the gradient of each example scaled to norm 1 at most, as for
/// differential privacy (Abadi et al. 2016, arXiv:1607.00133).
void per_example(std::int64_t size) {
  Classifier model{.b1 = tl::zeros<float, 128>(), .b2 = tl::zeros<float, 10>()};
  fill(model.w1, 1, 0.1);
  fill(model.w2, 2, 0.1);
  using Images = tl::Tensor<float, batch, 256>;
  using Labels = tl::Tensor<int, batch>;
  const auto count = static_cast<std::size_t>(size);
  const Images x = Images::from(uniform<float>(101, count * 256));
  const Labels y = Labels::from(integers(102, count, 10));
  const auto step = tl::jit([](const Classifier& m, const Images& x, const Labels& y) {
    const auto clipped = [](const Classifier& m, const tl::Tensor<float, 256>& x,
                            const tl::Scalar<int>& y) {
      const auto [value, g] = tl::value_and_grad(example_loss)(m, x, y);
      const auto norm = tl::sqrt(tl::sum(g.w1 * g.w1) + tl::sum(g.b1 * g.b1) +
                                 tl::sum(g.w2 * g.w2) + tl::sum(g.b2 * g.b2));
      const tl::Scalar<float> factor = 1 / tl::maximum(norm, 1.0f);
      return std::pair(value, tl::tree_map([&](auto leaf) { return leaf * factor; }, g));
    };
    const auto [values, g] = tl::vmap<batch>(clipped)(m, x, y);
    const auto next = [](auto p, auto each) { return p - 0.1f * tl::mean<0>(each); };
    return std::pair(tl::mean(values),
                     Classifier{next(m.w1, g[&Classifier::w1]), next(m.b1, g[&Classifier::b1]),
                                next(m.w2, g[&Classifier::w2]), next(m.b2, g[&Classifier::b2])});
  });
  serve([&](std::int64_t) {
    const auto [value, next] = step(model, x, y);
    model = next;
    return static_cast<double>(value.item());
  });
}

/// Of the Rosenbrock function of 200 variables plus the log-sum-exp of 100 linear forms.
void hessian(std::int64_t) {
  using Point = tl::Tensor<double, 200>;
  using Forms = tl::Tensor<double, 100, 200>;
  const Forms forms = Forms::from(uniform<double>(1, 100 * 200));
  const Point point = Point::from(uniform<double>(101, 200));
  const auto f = [](const Point& x, const Forms& a) {
    const auto head = tl::slice<0, 0, 199>(x), tail = tl::slice<0, 1, 200>(x);
    const auto valley = tail - head * head, off = 1 - head;
    return tl::sum(100 * valley * valley + off * off) + tl::logsumexp(tl::matmul(a, x));
  };
  const auto second = tl::jit([=](const Point& x, const Forms& a, tl::Scalar<double> shift) {
    return tl::hessian(f)(x + shift, a);
  });
  serve([&](std::int64_t i) {
    const auto h = second(point, forms, 1e-3 * static_cast<double>(i % 100));
    return h.data()[0] + h.data()[200 * 200 - 2];
  });
}

/// Fits the four rates of a Lotka-Volterra system to observations at each of 1000 RK4 steps:
/// gradient descent on the mean squared error.
void ode(std::int64_t) {
  using State = tl::Tensor<double, 2>;
  using Rates = tl::Tensor<double, 4>;
  using Path = tl::Tensor<double, 1000, 2>;
  const Path observed = Path::from(uniform<double>(101, 2000));
  Rates rates = Rates::from({1.1, 0.4, 0.1, 0.4});
  const auto step = tl::jit([](const Rates& rates, const Path& observed) {
    const auto loss = [](const Rates& r, const Path& observed) {
      const auto slope = [&](const State& s) {
        const auto prey = s[0], hunters = s[1];
        return tl::stack<0>(prey * (r[0] - r[1] * hunters), hunters * (r[2] * prey - r[3]));
      };
      const auto [last, errors] = tl::scan(
          [&](const State& s, const State& seen) {
            const State k1 = slope(s);
            const State k2 = slope(s + kStep / 2 * k1);
            const State k3 = slope(s + kStep / 2 * k2);
            const State k4 = slope(s + kStep * k3);
            const State next = s + kStep / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
            return std::pair(next, tl::sum((next - seen) * (next - seen)));
          },
          State::from({1.0, 0.5}), observed);
      return tl::mean(errors);
    };
    const auto [value, g] = tl::value_and_grad(loss)(rates, observed);
    return std::pair(value, rates - 1e-3 * g);
  });
  serve([&](std::int64_t) {
    const auto [value, next] = step(rates, observed);
    rates = next;
    return value.item();
  });
}

/// Logistic regression by gradient descent on 100 features.
void logistic(std::int64_t examples) {
  using Features = tl::Tensor<float, batch, 100>;
  using Labels = tl::Tensor<float, batch>;
  using Weights = tl::Tensor<float, 100>;
  const auto count = static_cast<std::size_t>(examples);
  const Features x = Features::from(uniform<float>(101, count * 100));
  Labels y = Labels::from(uniform<float>(102, count));
  y = tl::cast<float>(y > 0.0f);
  Weights w = tl::zeros<float, 100>();
  const auto step = tl::jit([](const Weights& w, const Features& x, const Labels& y) {
    const auto loss = [](const Weights& w, const Features& x, const Labels& y) {
      const auto logits = tl::matmul(x, w);
      return tl::mean(tl::softplus(logits) - y * logits);
    };
    const auto [value, g] = tl::value_and_grad(loss)(w, x, y);
    return std::pair(value, w - 0.5f * g);
  });
  serve([&](std::int64_t) {
    const auto [value, next] = step(w, x, y);
    w = next;
    return static_cast<double>(value.item());
  });
}

}  // namespace bench
