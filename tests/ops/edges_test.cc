// Derivatives at poles, ties and NaN, where differences say nothing. What is wanted is JAX's answer
// unless a comment says otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/ops/case.h"
#include "tests/transform/derived.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

GraphRef traced(const Arrays& args, const ops::Body& f) {
  std::vector<Type> types;
  for (const HostArray& a : args) {
    types.push_back(Type::get(a.dtype(), std::vector<Dim>(a.extents().begin(), a.extents().end())));
  }
  return graph_of(types, f);
}
/// As text, without the sign of NaN.
std::string text(const HostArray& a) {
  std::string s = to_string(a);
  for (std::size_t at; (at = s.find("-nan")) != std::string::npos;) s.erase(at, 1);
  return s;
}
HostArray ones_like(const HostArray& a) {
  HostArray r(DType::f64, a.extents());
  for (double& x : r.as_mutable<double>()) x = 1;
  return r;
}
/// Gradients by the f64 arguments, of <ct, f> (ct: ones if absent), as text.
std::vector<std::string> gradients(const ops::Body& f, const Arrays& args, Arrays ct = {}) {
  const GraphRef g = traced(args, f);
  const Arrays y = interp::run(*g, args);
  if (ct.empty()) {
    for (const HostArray& a : reals_of(y)) ct.push_back(ones_like(a));
  }
  const GraphRef v = checked(transform::vjp(g, transform::differentiable_params(*g)));
  const Arrays r = interp::run(*v, args + ct);
  std::vector<std::string> texts;
  for (std::size_t k = y.size(); k < r.size(); ++k) texts.push_back(text(r[k]));
  return texts;
}
/// The tangent of the first result, with ones as tangents of the arguments.
std::string tangent(const ops::Body& f, const Arrays& args) {
  const GraphRef g = traced(args, f);
  Arrays dx;
  for (const HostArray& a : reals_of(args)) dx.push_back(ones_like(a));
  return text(interp::run(*jvp_of(g), args + dx)[g->results().size()]);
}
std::vector<std::string> texts(const Arrays& arrays) {
  std::vector<std::string> r;
  for (const HostArray& a : arrays) r.push_back(text(a));
  return r;
}
/// f(x) and f(x, y) as bodies.
ops::Body one(Val (*f)(Val)) {
  return [f](const Vals& p) { return Vals{f(p[0])}; };
}
ops::Body two(Val (*f)(Val, Val)) {
  return [f](const Vals& p) { return Vals{f(p[0], p[1])}; };
}
template <class F>
ops::Body reduced(F f) {
  return [f](const Vals& p) { return Vals{f(p[0], std::vector<std::int64_t>{0})}; };
}
using ::testing::ElementsAreArray;
#define EXPECT_GRADIENTS(f, args, ...) \
  EXPECT_THAT(gradients(f, Arrays args), ElementsAreArray(texts(Arrays __VA_ARGS__)))

TEST(Edges, Unary) {
  struct Row {
    Val (*f)(Val);
    std::vector<double> x, slope;
  };
  const Row rows[] = {
      {ops::abs, {0, -0., -2}, {0, -0., -1}},  // JAX has 1 at 0
      {ops::sign, {0, 3}, {0, 0}},
      {ops::floor, {1, 1.5}, {0, 0}},
      {ops::sqrt, {0, -0., -1, kInf}, {kInf, -kInf, kNan, 0}},
      {ops::cbrt, {0}, {kInf}},
      {ops::rsqrt, {0, kInf}, {-kInf, -0.}},
      {ops::log, {-1, 0, -0., kInf}, {-1, kInf, -kInf, 0}},
      {ops::log1p, {-2, -1}, {-1, kInf}},
      {ops::exp, {-kInf, kInf}, {0, kInf}},
      {ops::logistic, {-1000, 1000}, {0, 0}},
      {ops::tanh, {-kInf, 100}, {0, 0}},
      {ops::asin, {1, 2}, {kInf, kNan}},
      {ops::acos, {1}, {-kInf}},
      {ops::acosh, {1, 0.5}, {kInf, kNan}},
      {ops::atanh, {1, 2}, {kInf, -1. / 3}},
      {ops::atan, {kInf, 1e200}, {0, 0}},
      {ops::asinh, {kInf, 0}, {0, 1}},
      {ops::erf, {kInf, -kInf}, {0, 0}},
      {ops::erf_inv, {1}, {kInf}},
  };
  for (const Row& r : rows) {
    EXPECT_GRADIENTS(one(r.f), ({vec(r.x)}), ({vec(r.slope)}));
  }
  // Far out the derivative of asinh is 1 / x (JAX has 0).
  EXPECT_THAT(gradients(one(ops::asinh), {vec({1e200})}),
              ::testing::Not(ElementsAreArray(texts({vec({0})}))));
  // An infinite slope times a zero cotangent.
  EXPECT_THAT(gradients(one(ops::sqrt), {vec({0})}, {vec({0})}),
              ElementsAreArray(texts({vec({kNan})})));
}

TEST(Edges, Binary) {
  EXPECT_GRADIENTS(two(ops::max), ({vec({1, 0, kNan, 1, 2}), vec({1, -0., 1, kNan, 1})}),
                   ({vec({0.5, 0.5, 0, 0, 1}), vec({0.5, 0.5, 0, 0, 0})}));
  EXPECT_GRADIENTS(two(ops::min), ({vec({1, 0, kNan, 1, 2}), vec({1, -0., 1, kNan, 1})}),
                   ({vec({0.5, 0.5, 0, 0, 0}), vec({0.5, 0.5, 0, 0, 1})}));
  EXPECT_GRADIENTS(two(ops::div), ({vec({1}), vec({0})}), ({vec({kInf}), vec({-kInf})}));
  EXPECT_GRADIENTS(two(ops::rem), ({vec({5.5, -5.5, 3}), vec({2, 2, kInf})}),
                   ({vec({1, 1, 1}), vec({-2, 2, -0.})}));
  // x / y rounds up to 3 although y fits into x only twice.
  const double y = 1. / 3, x = std::nextafter(1., 0.);
  EXPECT_GRADIENTS(two(ops::rem), ({vec({x}), vec({y})}),
                   ({vec({1}), vec({-std::round((x - std::fmod(x, y)) / y)})}));
}

TEST(Edges, Pow) {
  const auto p = two(ops::pow);
  auto slopes = [&](double x, double y) {
    const GraphRef g = traced({vec({x}), vec({y})}, p);
    const GraphRef v = transform::vjp(g, transform::differentiable_params(*g));
    const Arrays r = interp::run(*v, {vec({x}), vec({y}), vec({1})});
    return std::pair{r[1].element(0), r[2].element(0)};
  };
  auto check = [&](double x, double y, double dx, double dy) {
    const auto [a, b] = slopes(x, y);
    EXPECT_TRUE(a == dx || (std::isnan(a) && std::isnan(dx))) << x << "^" << y << ": " << a;
    EXPECT_TRUE(b == dy || (std::isnan(b) && std::isnan(dy))) << x << "^" << y << ": " << b;
  };
  check(0, 0, 0, 0);  // JAX has NaN for the first
  check(0, 1, 1, 0);
  check(0, 0.5, kInf, 0);
  check(0, -1, -kInf, kNan);
  check(-1, 2, -2, kNan);
  check(2, 0, 0, std::log(2));
  check(kNan, 0, kNan, kNan);
  check(0, 2, 0, 0);
  // x^2 at 0 to every order: 0, 2, 0.
  const ops::Body square = [](const Vals& v) {
    return Vals{ops::pow(v[0], ops::full(2, v[0].type()))};
  };
  GraphRef g = traced({vec({0})}, square);
  Arrays args{vec({0})};
  std::vector<double> derivatives;
  for (int order = 0; order < 3; ++order) {
    g = directional(g);
    args = args + Arrays(args.size(), vec({order == 0 ? 1. : 0.}));
    if (order) args[args.size() / 2] = vec({1});
    derivatives.push_back(interp::run(*g, args)[0].element(0));
  }
  EXPECT_THAT(derivatives, ::testing::ElementsAre(0, 2, 0));
}

TEST(Edges, IntegerPow) {
  auto power = [](std::int64_t n) -> ops::Body {
    return [n](const Vals& p) { return Vals{ops::integer_pow(p[0], n)}; };
  };
  EXPECT_GRADIENTS(power(0), ({vec({kNan, kInf, 0})}), ({vec({0, 0, 0})}));
  EXPECT_GRADIENTS(power(1), ({vec({kNan, kInf, 0})}), ({vec({1, 1, 1})}));
  EXPECT_GRADIENTS(power(-1), ({vec({0})}), ({vec({-kInf})}));
}

TEST(Edges, Clamp) {
  const ops::Body clamp = [](const Vals& p) { return Vals{ops::clamp(p[0], p[1], p[2])}; };
  // Below, at both bounds, inside, above, NaN; lo > hi gives hi (JAX gives its tangent to nobody
  // where x < hi).
  EXPECT_GRADIENTS(clamp,
                   ({vec({0, 0, 0, 0, 0, 0, 5, 5}), vec({-1, 0, 1, 0.5, 3, kNan, 2, 0}),
                     vec({1, 1, 1, 1, 1, 1, 1, 1})}),
                   ({vec({1, 0, 0, 0, 0, 0, 0, 0}), vec({0, 0, 0, 1, 0, 0, 0, 0}),
                     vec({0, 0, 0, 0, 1, 0, 1, 1})}));
}

TEST(Edges, Reductions) {
  EXPECT_GRADIENTS(reduced(ops::reduce_max), ({vec({3, 1, 3})}), ({vec({0.5, 0, 0.5})}));
  EXPECT_GRADIENTS(reduced(ops::reduce_min), ({vec({1, 1, 3, 1})}),
                   ({vec({1. / 3, 1. / 3, 0, 1. / 3})}));
  EXPECT_GRADIENTS(reduced(ops::reduce_prod), ({vec({0, 2, 3})}), ({vec({6, 0, 0})}));
  EXPECT_GRADIENTS(reduced(ops::reduce_prod), ({vec({0, 2, 0})}), ({vec({0, 0, 0})}));
  EXPECT_EQ(tangent(reduced(ops::reduce_max), {vec({1, kNan, 3})}), "f64[] {nan}");
  EXPECT_GRADIENTS(reduced(ops::reduce_max), ({vec({1, kNan, 3})}), ({vec({kNan, kNan, kNan})}));
}

TEST(Edges, RunningExtremes) {
  // The first of equals wins (JAX splits ties pairwise), also where it equals the start value.
  auto with = [](auto f, ops::Running how) -> ops::Body {
    return [f, how](const Vals& p) { return Vals{f(p[0], 0, how)}; };
  };
  const Arrays ct{vec({1, 10, 100, 1000})};
  auto check = [&](const ops::Body& f, std::vector<double> x, std::vector<double> g) {
    EXPECT_THAT(gradients(f, {vec(std::move(x))}, ct),
                ElementsAreArray(texts({vec(std::move(g))})));
  };
  check(with(ops::cummax, {}), {1, 3, 3, 0.5}, {1, 1110, 0, 0});
  check(with(ops::cummin, {}), {1, 1, 0, 0}, {11, 0, 1100, 0});
  check(with(ops::cummax, {.reverse = true}), {1, 3, 3, 0.5}, {0, 0, 111, 1000});
  check(with(ops::cummax, {}), {-kInf, -kInf, 1, 0}, {11, 0, 1100, 0});
  check(with(ops::cummax, {}), {1, kNan, kNan, 5}, {1, 1110, 0, 0});
  check(with(ops::cummax, {.exclusive = true}), {1, 3, 3, 0.5}, {10, 1100, 0, 0});
}

TEST(Edges, CumulativeLogSumExp) {
  // -inf everywhere has derivative 0 (JAX has NaN).
  const ops::Body f = [](const Vals& p) { return Vals{ops::cumlogsumexp(p[0], 0)}; };
  EXPECT_GRADIENTS(f, ({vec({-kInf, -kInf})}), ({vec({0, 0})}));
  EXPECT_GRADIENTS(f, ({vec({-kInf, 1})}), ({vec({0, 1})}));
}

TEST(Edges, Windows) {
  const ops::Window w = ops::plain_window({Dim(2)});
  auto pool = [&](ops::Monoid m) -> ops::Body {
    return [w, m](const Vals& p) { return Vals{ops::reduce_window(p[0], m, w)}; };
  };
  const Arrays ct{vec({1, 10, 100})};
  auto check = [&](ops::Monoid m, std::vector<double> x, std::vector<double> g) {
    EXPECT_THAT(gradients(pool(m), {vec(std::move(x))}, ct),
                ElementsAreArray(texts({vec(std::move(g))})));
  };
  check(ops::Monoid::max, {1, 1, 1, 0}, {1, 10, 100, 0});
  check(ops::Monoid::max, {1, kNan, kNan, 0}, {0, 1, 110, 0});
  check(ops::Monoid::min, {1, 1, 1, 0}, {1, 10, 0, 100});
  EXPECT_THROW(gradients(pool(ops::Monoid::prod), {vec({1, 2, 3})}), UserError);
}

TEST(Edges, Orders) {
  const ops::Body sorted = [](const Vals& p) { return Vals{ops::sort(p[0], 0).values}; };
  EXPECT_THAT(gradients(sorted, {vec({3, kNan, 1, 1})}, {vec({1, 10, 100, 1000})}),
              ElementsAreArray(texts({vec({100, 1000, 1, 10})})));
  const ops::Body top = [](const Vals& p) { return Vals{ops::top_k(p[0], 2).values}; };
  EXPECT_THAT(gradients(top, {vec({3, 1, 3, kNan})}, {vec({1, 10})}),
              ElementsAreArray(texts({vec({10, 0, 0, 1})})));
}

TEST(Edges, NothingLeaksFromTheSideNotTaken) {
  const ops::Body f = [](const Vals& p) {
    const Val zero = ops::zeros_like(p[0]);
    return Vals{ops::select(p[0] > zero, ops::log(p[0]), zero)};
  };
  EXPECT_EQ(tangent(f, {vec({-1, 0, 2})}), "f64[3] {0, 0, 0.5}");
  EXPECT_GRADIENTS(f, ({vec({-1, 0, 2})}), ({vec({0, 0, 0.5})}));  // JAX has NaN at 0
}

}  // namespace
}  // namespace tlaloc::testing
