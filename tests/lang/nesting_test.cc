// Transforms of programs over trees, nested in each other, against closed forms and each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tlaloc/lang/containers.h"
#include "tlaloc/lang/graph_of.h"
#include "tlaloc/lang/print.h"
#include "tlaloc/lang/random.h"
#include "tlaloc/tlaloc.h"

namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

inline constexpr tl::Axis<struct Batch> batch;
inline constexpr tl::Axis<struct Features, 3> features;
inline constexpr tl::Axis<struct Hidden, 4> hidden;

struct Dense {
  tl::Tensor<double, features, hidden> w;
  tl::Tensor<double, hidden> b;
};
struct Model {
  Dense first;
  tl::Tensor<double, hidden> out;
  std::vector<tl::Scalar<double>> scales;
};
using Rows = tl::Tensor<double, batch, features>;
using Targets = tl::Tensor<double, batch>;

Model model() {
  const auto [k1, k2, k3] = tl::random::split<3>(tl::random::key(3));
  return {
      {tl::random::normal<double, features, hidden>(k1), tl::random::normal<double, hidden>(k2)},
      tl::random::normal<double, hidden>(k3),
      {tl::Scalar<double>(0.5), tl::Scalar<double>(2)}};
}
Rows rows(std::int64_t n) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < 3 * n; ++i) v.push_back(std::sin(static_cast<double>(i) + 1));
  return Rows::from(v, {n, 3});
}
Targets targets(std::int64_t n) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(std::cos(static_cast<double>(i)));
  return Targets::from(v, {n});
}

/// One row's prediction, and the mean squared error over rows.
tl::Scalar<double> predict(const Model& m, tl::Tensor<double, features> x) {
  const auto h = tl::tanh(tl::contract(x, m.first.w, features) + m.first.b);
  return m.scales[0] * tl::contract(h, m.out, hidden) * m.scales[1];
}
tl::Scalar<double> loss(const Model& m, Rows x, Targets y) {
  const auto h = tl::tanh(tl::matmul(x, m.first.w) + m.first.b);
  const auto p = m.scales[0] * tl::matmul(h, m.out) * m.scales[1];
  return tl::mean((p - y) * (p - y));
}

std::vector<double> flat(const Model& m) {
  std::vector<double> all = tl::to_vector(m.first.w);
  for (const auto& part : {tl::to_vector(m.first.b), tl::to_vector(m.out)}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  for (const auto& s : m.scales) all.push_back(s.item());
  return all;
}
Model step(const Model& m, const Model& g, double rate) {
  Model next = m;
  next.first.w = m.first.w - rate * g.first.w;
  next.first.b = m.first.b - rate * g.first.b;
  next.out = m.out - rate * g.out;
  for (std::size_t i = 0; i < m.scales.size(); ++i) {
    next.scales[i] = m.scales[i] - rate * g.scales[i];
  }
  return next;
}

TEST(Nesting, GradientsHaveTheModelsTypeAndAgreeWithDifferences) {
  tl::check_grads(loss, {.order = 2})(model(), rows(3), targets(3));
  const Model g = tl::grad(loss)(model(), rows(3), targets(3));
  EXPECT_EQ(g.scales.size(), 2u);
}

TEST(Nesting, OneTraceTrainsOnEveryBatchSize) {
  auto train = tl::jit(tl::value_and_grad(loss));
  Model m = model();
  const double before = loss(m, rows(8), targets(8)).item();
  for (int i = 0; i < 30; ++i) {
    const std::int64_t n = 4 + i % 5;
    const auto [value, g] = train(m, rows(n), targets(n));
    m = step(m, g, 0.05);
  }
  EXPECT_LT(loss(m, rows(8), targets(8)).item(), 0.7 * before);
  EXPECT_EQ(tl::traces(train), 1);
  EXPECT_THAT(tl::explain(train), HasSubstr("argument 1: f64[Batch, Features=3]"));
}

TEST(Nesting, JitChangesNothing) {
  const Model m = model();
  const auto g = tl::grad(loss);
  EXPECT_EQ(flat(tl::jit(g)(m, rows(5), targets(5))), flat(g(m, rows(5), targets(5))));
}

TEST(Nesting, PerExampleGradientsAverageToTheGradient) {
  const auto one = [](const Model& m, tl::Tensor<double, features> x, tl::Scalar<double> y) {
    const auto d = predict(m, x) - y;
    return d * d;
  };
  const auto per = tl::jit(tl::vmap<batch>(tl::grad(one)));
  const auto g = per(model(), rows(5), targets(5));
  const auto mean_of = tl::to_vector(tl::mean(g[&Model::out], batch));
  const auto whole = tl::to_vector(tl::grad(loss)(model(), rows(5), targets(5)).out);
  EXPECT_THAT(mean_of, Pointwise(DoubleNear(1e-12), whole));
}

TEST(Nesting, ForwardOverReverseAndReverseOverForward) {
  const Model m = model();
  const auto along = [&](const Model& at) { return tl::grad(loss)(at, rows(3), targets(3)); };
  const Model v = along(m);  // some direction
  const auto [g, hv] = tl::jvp(along)(m, v);
  const auto slope = [&](const Model& at) {
    const auto only = [&](const Model& p) { return loss(p, rows(3), targets(3)); };
    return tl::jvp(only)(at, v).second;
  };
  const Model reversed = tl::grad(slope)(m);
  EXPECT_THAT(flat(hv), Pointwise(DoubleNear(1e-10), flat(reversed)));
  const auto only = [&](const Model& p) { return loss(p, rows(3), targets(3)); };
  EXPECT_THAT(flat(tl::hvp(only)(m, v)), Pointwise(DoubleNear(1e-10), flat(hv)));
}

TEST(Nesting, GradOfVmapOfGrad) {
  // sum over rows of (d/dx sin(a x))² = sum a² cos²(a x); its gradient in a.
  const auto f = [](tl::Scalar<double> a, tl::Tensor<double, batch> x) {
    const auto slope = [&](tl::Scalar<double> y) {
      return tl::grad([&](tl::Scalar<double> z) { return tl::sin(a * z); })(y);
    };
    const auto d = tl::vmap<batch>(slope)(x);
    return tl::sum(d * d);
  };
  const double a = 0.7;
  const std::vector<double> xs{0.1, 0.5, -1.2};
  double expected = 0;
  for (double x : xs) {
    expected +=
        2 * a * std::pow(std::cos(a * x), 2) - 2 * a * a * x * std::cos(a * x) * std::sin(a * x);
  }
  const auto x = tl::Tensor<double, batch>::from(xs, {3});
  EXPECT_NEAR(tl::grad(f)(tl::Scalar<double>(a), x).item(), expected, 1e-12);
  EXPECT_NEAR(tl::jit(tl::grad(f))(tl::Scalar<double>(a), x).item(), expected, 1e-12);
}

TEST(Nesting, HessianAndJacobiansAgree) {
  const auto f = [](tl::Tensor<double, 3> x) { return tl::sum(tl::exp(x) * tl::sin(x)); };
  const auto at = tl::Tensor<double, 3>::from({0.1, -0.4, 2});
  const auto h = tl::to_vector(tl::hessian(f)(at));
  EXPECT_THAT(tl::to_vector(tl::jacfwd(tl::grad(f))(at)), Pointwise(DoubleNear(1e-12), h));
  EXPECT_THAT(tl::to_vector(tl::jacrev(tl::grad(f))(at)), Pointwise(DoubleNear(1e-12), h));
  EXPECT_NEAR(h[4], std::exp(-0.4) * 2 * std::cos(-0.4), 1e-12);
  EXPECT_EQ(h[1], 0);
}

TEST(Nesting, PullbacksAreValues) {
  const auto f = [](tl::Tensor<double, 2> x) { return tl::sin(x) * x; };
  const auto at = tl::Tensor<double, 2>::from({0.3, 1});
  const auto [y, pullback] = tl::vjp(f)(at);
  const auto g = tl::to_vector(pullback(tl::Tensor<double, 2>::from({1, 1})));
  EXPECT_NEAR(g[0], std::sin(0.3) + 0.3 * std::cos(0.3), 1e-14);
  const auto twice =
      tl::jit([pull = pullback](tl::Tensor<double, 2> ct) { return pull(2.0 * ct); });
  EXPECT_NEAR(twice(tl::Tensor<double, 2>::from({1, 0})).data()[0], 2 * g[0], 1e-14);
}

TEST(Nesting, LoopsAndBranchesOverTrees) {
  using Pair = std::pair<tl::Scalar<double>, tl::Scalar<double>>;
  // A damped oscillator by scan, its energy differentiated by the damping.
  const auto energy = [](tl::Scalar<double> damping) {
    const auto cell = [&](const Pair& s) {
      const auto v = s.second - 0.1 * (s.first + damping * s.second);
      const auto x = s.first + 0.1 * v;
      return std::pair(Pair{x, v}, x);
    };
    const auto [last, path] = tl::scan<20>(cell, Pair{1.0, 0.0});
    return last.first * last.first + last.second * last.second + 0.01 * tl::sum(path);
  };
  tl::check_grads(energy, {.order = 2})(tl::Scalar<double>(0.3));
  // A while loop with a branch inside, mapped over starts that take different numbers of trips.
  const auto halve = [](tl::Scalar<double> x) {
    return tl::while_loop([](tl::Scalar<double> c) { return c > 1.0; },
                          [](tl::Scalar<double> c) {
                            return tl::cond(
                                c > 8.0, [&] { return c / 4.0; }, [&] { return c / 2.0; });
                          },
                          x);
  };
  const auto starts = tl::Tensor<double, batch>::from(std::vector<double>{0.5, 3, 20}, {3});
  EXPECT_THAT(tl::to_vector(tl::vmap<batch>(halve)(starts)), ElementsAre(0.5, 0.75, 0.625));
  EXPECT_THAT(tl::to_vector(tl::vmap<batch>(tl::grad(halve))(starts)),
              ElementsAre(1, 0.25, 1.0 / 32));
  EXPECT_THAT(tl::to_vector(tl::jit(tl::vmap<batch>(tl::grad(halve)))(starts)),
              ElementsAre(1, 0.25, 1.0 / 32));
}

TEST(Nesting, SharedValuesThatEqualLiftedOnes) {
  // Three zeros that all lanes share, and a zero for each of three lanes, are one node.
  const auto f = [](tl::Scalar<double> x) {
    const auto zeros = tl::zeros<double, 3>();
    const tl::Scalar<double> zero = tl::sum(zeros);
    return tl::select(x > 0.0, tl::Scalar<double>(0), x) + tl::sum(zeros + 1.0) + tl::exp(zero);
  };
  const auto x = tl::Tensor<double, 3>::from({-1, 0, 1});
  EXPECT_THAT(tl::to_vector(tl::vmap<0>(f)(x)), ElementsAre(3, 4, 4));
  EXPECT_THAT(tl::to_vector(tl::jit(tl::vmap<0>(f))(x)), ElementsAre(3, 4, 4));
}

TEST(Nesting, JacobiansOfJacobiansThroughALoop) {
  using S = tl::Scalar<double>;
  // At 2: y -> ((x + 1) x + 1) x + 1 times y, whose derivative in y is x³ + x² + x + 1.
  const auto f = [](S x) {
    const auto inner = [&](S y) {
      return tl::while_loop([](S c) { return c < 20.0; }, [&](S c) { return c * x + y; }, y);
    };
    return tl::grad(inner)(x);
  };
  const double second = 6 * 2 + 2;
  EXPECT_EQ(tl::grad(tl::grad(f))(2.0).item(), second);
  EXPECT_EQ(tl::jacfwd(tl::jacfwd(f))(2.0).item(), second);
  EXPECT_EQ(tl::jacfwd(tl::jacrev(f))(2.0).item(), second);
  EXPECT_EQ(tl::jacrev(tl::jacfwd(f))(2.0).item(), second);
  EXPECT_EQ(tl::jacrev(tl::jacrev(f))(2.0).item(), second);
}

TEST(Nesting, CustomRulesUnderVmapAndJit) {
  // log(1 + exp x) with a rule that is stable for large x.
  const auto softplus =
      tl::custom_jvp([](tl::Scalar<double> x) { return tl::log1p(tl::exp(x)); },
                     [](tl::Scalar<double> x, tl::Scalar<double> dx) {
                       return std::pair(tl::log1p(tl::exp(x)), dx * tl::sigmoid(x));
                     });
  const auto xs = tl::Tensor<double, batch>::from(std::vector<double>{-1, 0, 1000}, {3});
  const auto slopes = tl::to_vector(tl::jit(tl::vmap<batch>(tl::grad(softplus)))(xs));
  EXPECT_NEAR(slopes[0], 1 / (1 + std::exp(1.0)), 1e-15);
  EXPECT_EQ(slopes[1], 0.5);
  EXPECT_EQ(slopes[2], 1);
}

TEST(Nesting, RandomStreamsInATrainingStep) {
  const auto noisy = [](const tl::random::Key& key, tl::Tensor<double, batch> x) {
    return tl::sum(x * tl::random::normal<double, batch>(key, x));
  };
  auto g = tl::jit(tl::grad(noisy, tl::argnums<1>));
  const auto x = tl::Tensor<double, batch>::from(std::vector<double>(4), {4});
  const auto key = tl::random::key(9);
  EXPECT_EQ(tl::to_vector(g(key, x)), tl::to_vector(tl::random::normal<double, batch>(key, x)));
  EXPECT_NE(tl::to_vector(g(tl::random::fold_in(key, 1), x)), tl::to_vector(g(key, x)));
  EXPECT_EQ(tl::traces(g), 1);
}

TEST(Nesting, GraphsAreText) {
  EXPECT_THAT(tl::graph_of(tl::grad(loss))(model(), rows(2), targets(2)), HasSubstr("tanh"));
}

}  // namespace
