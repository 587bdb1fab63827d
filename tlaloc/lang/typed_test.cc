// Typed tensors and transforms at run time: values, structure, and the user's line in errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/custom.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/hessian.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/math2.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/scan.h"
#include "tlaloc/lang/select.h"
#include "tlaloc/lang/special.h"
#include "tlaloc/lang/tangents.h"
#include "tlaloc/lang/tree_std.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::typed_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

inline constexpr Axis<struct Batch> batch;
inline constexpr Axis<struct Width, 2> width;

template <class T, auto... D>
std::vector<T> values(const Tensor<T, D...>& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

struct Layer {
  Tensor<double, width> w;
  Tensor<double> b;
};
struct Model {
  std::vector<Layer> layers;
  std::optional<Tensor<double>> scale;
  double rate = 0.5;  // a number: part of the program
  Tensor<int> steps;
};
Model model() {
  Model m;
  m.layers.push_back({Tensor<double, width>::from({1, 2}), 0.5});
  m.layers.push_back({Tensor<double, width>::from({3, 4}), -1});
  m.scale = Tensor<double>(2);
  m.steps = Tensor<int>(7);
  return m;
}

TEST(Typed, OperatorsBroadcastByName) {
  const auto x = Tensor<double, batch, width>::from({1, 2, 3, 4, 5, 6});
  const auto rows = Tensor<double, batch>::from({10, 20, 30});
  EXPECT_THAT(values(x + rows), ElementsAre(11, 12, 23, 24, 35, 36));
  EXPECT_THAT(values(x * Tensor<double, width>::from({1, 0})), ElementsAre(1, 0, 3, 0, 5, 0));
  EXPECT_THAT(values(x / sum(x, width)),
              ElementsAre(1 / 3., 2 / 3., 3 / 7., 4 / 7., 5 / 11., 6 / 11.));
  EXPECT_THAT(values(x - sum_keep<0>(x)), ElementsAre(-8, -10, -6, -8, -4, -6));
  EXPECT_THAT(values(select(x > 3, x, 0)), ElementsAre(0, 0, 0, 4, 5, 6));
  EXPECT_THAT(values(maximum(x, 4)), ElementsAre(4, 4, 4, 4, 5, 6));
  EXPECT_THAT(values(transpose<width, batch>(x)), ElementsAre(1, 3, 5, 2, 4, 6));
  EXPECT_EQ(x.size(0), 3);
}

TEST(Typed, FunctionsOfNumbersGiveWhatScalarTensorsGive) {
  EXPECT_EQ(tlaloc::sqrt(16.0), 4.0);
  static_assert(std::is_same_v<decltype(tlaloc::exp(0.7F)), float>);
  EXPECT_EQ(tlaloc::exp(0.7F), tlaloc::exp(Tensor<float>(0.7F)).item());
  EXPECT_EQ(tlaloc::erf_inv(0.3), tlaloc::erf_inv(Tensor<double>(0.3)).item());
  EXPECT_EQ(tlaloc::tanh(0.25L), tlaloc::tanh(0.25));
  // In a trace a number stays a number.
  EXPECT_EQ(grad([](Tensor<double> x) { return x * tlaloc::exp(1.0); })(2.0).item(),
            tlaloc::exp(1.0));
}

TEST(Typed, ArraysFollowTheSameRule) {
  const auto a = Array::from<double>(std::vector<double>{1, 2, 3, 4}, {2, 2});
  const auto b = untyped(Tensor<double, width>::from({10, 20}));
  const Array c = a + b * 2;
  EXPECT_THAT(values(as<Tensor<double, any, width>>(c)), ElementsAre(21, 42, 23, 44));
  EXPECT_THAT(values(as<Tensor<double, any>>(sum(a, 0))), ElementsAre(4, 6));
  const auto e = Array::from<double>(std::vector<double>{1, 2, 3}, {3});
  EXPECT_THAT(error_of([&] { a + e; }), HasSubstr("TL-SHAPE-001"));
}

TEST(Typed, OpenSizesAreCheckedWithTheUsersLine) {
  const Tensor<double, any> x = Tensor<double, 3>::from({1, 2, 3});
  const auto convert = [&] { return Tensor<double, width>(x); };
  const int line = __LINE__ - 1;
  EXPECT_THAT(error_of(convert),
              HasSubstr("typed_test.cc:" + std::to_string(line) + ": TL-SHAPE-002"));
  EXPECT_THAT(error_of([&] { x + Tensor<double, any>(Tensor<double, 2>::from({1, 2})); }),
              HasSubstr("TL-SHAPE-001"));
  EXPECT_THAT(error_of([&] {
                Tensor<double, 3> empty;
                empty + 1;
              }),
              HasSubstr("TL-VALUE-001"));
  EXPECT_THAT(error_of([&] { Tensor<signed char> t(300); }), HasSubstr("TL-DTYPE-004"));
}

TEST(Typed, GradientsHaveTheModelsStructure) {
  const auto loss = [](const Model& m, Tensor<double, width> x) {
    Tensor<double> total = 0;
    for (const Layer& l : m.layers) total += sum(l.w * x) + l.b * l.b;
    return total * *m.scale * m.rate;
  };
  const Model m = model();
  const auto x = Tensor<double, width>::from({5, 7});
  const auto [value, g] = value_and_grad(loss)(m, x);
  EXPECT_DOUBLE_EQ(value.item(), (5 + 14 + 0.25) + (15 + 28 + 1));
  ASSERT_EQ(g.layers.size(), 2u);
  EXPECT_THAT(values(g.layers[1].w), ElementsAre(5, 7));
  EXPECT_DOUBLE_EQ(g.layers[1].b.item(), -2);
  EXPECT_DOUBLE_EQ(g.scale->item(), value.item() / 2);
  EXPECT_EQ(g.rate, 0);
  EXPECT_EQ(g.steps.item(), 0);
  const auto [gm, gx] = grad(loss, argnums<0, 1>)(m, x);
  EXPECT_THAT(values(gx), ElementsAre(4, 6));
  EXPECT_EQ(gm.layers.size(), 2u);
}

TEST(Typed, GradNestsAndTakesNumbers) {
  const auto cube = [](auto x) { return x * x * x; };
  EXPECT_DOUBLE_EQ(grad(cube)(2.0).item(), 12);
  EXPECT_DOUBLE_EQ(grad(grad(cube))(2.0).item(), 12);
  EXPECT_DOUBLE_EQ(grad(grad(grad(cube)))(2.0).item(), 6);
  const auto aux = [](auto x) { return std::pair{x * x, x + 1.0}; };
  const auto [g, extra] = grad(aux)(3.0);
  EXPECT_DOUBLE_EQ(g.item(), 6);
  EXPECT_DOUBLE_EQ(extra.item(), 4);
  EXPECT_DOUBLE_EQ(hvp(cube)(2.0, 1.0).item(), 12);
  EXPECT_DOUBLE_EQ(hessian(cube)(2.0).item(), 12);
}

TEST(Typed, TangentsAndPullbacks) {
  const auto f = [](Tensor<double, width> x, Tensor<double> s) { return sin(x) * s; };
  const auto x = Tensor<double, width>::from({0.5, 1});
  const auto dx = Tensor<double, width>::from({1, 2});
  const auto [y, dy] = jvp(f)(x, 3.0, dx);
  EXPECT_DOUBLE_EQ(dy.data()[1], std::cos(1.0) * 3 * 2);
  const auto [y2, dy2] = jvp(f, argnums<0, 1>)(x, 3.0, dx, 1.0);
  EXPECT_DOUBLE_EQ(dy2.data()[0], std::cos(0.5) * 3 + std::sin(0.5));
  const auto [y3, pullback] = vjp(f, argnums<0, 1>)(x, 3.0);
  const auto [cx, cs] = pullback(dx);
  EXPECT_DOUBLE_EQ(cs.item(), std::sin(0.5) + 2 * std::sin(1.0));
  EXPECT_DOUBLE_EQ(cx.data()[1], std::cos(1.0) * 3 * 2);
  const auto [y4, tangent] = linearize(f)(x, 3.0);
  EXPECT_EQ(values(tangent(dx)), values(dy));
  const auto j = jacfwd(f)(x, 3.0);
  EXPECT_THAT(values(j), ElementsAre(std::cos(0.5) * 3, 0, 0, std::cos(1.0) * 3));
  EXPECT_EQ(values(jacrev(f)(x, 3.0)), values(j));
}

TEST(Typed, HessianOfATreeIsIndexedByPairs) {
  const auto f = [](const Layer& l) { return sum(l.w * l.w) * l.b; };
  const Layer l{Tensor<double, width>::from({3, 4}), 5};
  const auto h = hessian(f)(l);
  EXPECT_THAT(values(h[&Layer::w][&Layer::w]), ElementsAre(10, 0, 0, 10));
  EXPECT_THAT(values(h[&Layer::w][&Layer::b]), ElementsAre(6, 8));
  EXPECT_THAT(values(h[&Layer::b][&Layer::w]), ElementsAre(6, 8));
  EXPECT_EQ(h[&Layer::b][&Layer::b].item(), 0);
}

TEST(Typed, VmapPeelsTheAxisByName) {
  const auto f = [](const Layer& l, Tensor<double, width> x) { return sum(l.w * x) + l.b; };
  const Layer l{Tensor<double, width>::from({1, 2}), 10};
  const auto xs = Tensor<double, batch, width>::from({1, 1, 2, 0, 0, 3});
  EXPECT_THAT(values(vmap<batch>(f)(l, xs)), ElementsAre(13, 12, 16));
  const auto per_example = vmap<batch>(grad(f))(l, xs);
  EXPECT_THAT(values(per_example[&Layer::w]), ElementsAre(1, 1, 2, 0, 0, 3));
  EXPECT_THAT(values(per_example[&Layer::b]), ElementsAre(1, 1, 1));
  // The gradients are mapped in turn: a With is an argument that carries the axis.
  EXPECT_THAT(values(vmap<batch>(f)(per_example, xs)), ElementsAre(3, 5, 10));
  EXPECT_THAT(values(vmap<0>([](auto x) { return sum(x); })(xs)), ElementsAre(2, 2, 3));
  EXPECT_THAT(values(vmap<1>([](auto x) { return sum(x); })(xs)), ElementsAre(3, 4));
}

TEST(Typed, JitTracesOncePerStructure) {
  int traces = 0;
  const auto f = jit([&](const Model& m, Tensor<double, batch> x) {
    ++traces;
    Model out = m;
    for (Layer& l : out.layers) l.b = l.b + sum(x);
    return out;
  });
  Model m = model();
  const auto x = Tensor<double, batch>::from({1, 2, 3});
  EXPECT_EQ(f(m, x).layers[1].b.item(), 5);
  EXPECT_EQ(f(m, Tensor<double, batch>::from({1})).layers[0].b.item(), 1.5);
  EXPECT_EQ(traces, 1);
  m.layers.pop_back();
  EXPECT_EQ(f(m, x).layers.size(), 1u);
  EXPECT_EQ(traces, 2);
  m.rate = 0.25;
  EXPECT_EQ(f(m, x).rate, 0.25);
  EXPECT_EQ(traces, 3);
}

TEST(Typed, ControlFlow) {
  const auto f = [](Tensor<double> x) {
    return cond(x > 0, [&] { return x * x; }, [&] { return -x; });
  };
  EXPECT_EQ(grad(f)(3).item(), 6);
  EXPECT_EQ(grad(f)(-3).item(), -1);
  EXPECT_EQ(
      while_loop([](auto x) { return x < 100.0; }, [](auto x) { return x * 2.0; }, 3.0).item(),
      192);
  EXPECT_EQ(fori_loop(0, 5, [](auto i, auto c) { return c + cast<double>(i); }, 1.0).item(), 11);
  const auto xs = Tensor<double, batch>::from({1, 2, 3});
  const auto [last, sums] = scan([](auto c, auto x) { return std::pair{c + x, c * x}; }, 0.0, xs);
  EXPECT_EQ(last.item(), 6);
  EXPECT_THAT(values(sums), ElementsAre(0, 2, 9));
  const auto total = [](Tensor<double, batch> xs) {
    return scan([](auto c, auto x) { return std::pair{c * x, x}; }, 1.0, xs).first;
  };
  EXPECT_THAT(values(grad(total)(xs)), ElementsAre(6, 3, 2));
  EXPECT_EQ(switch_case(1, [] { return 1.0; }, [] { return 2.0; }, [] { return 3.0; }).item(), 2);
}

TEST(Typed, CustomRulesAreUsed) {
  const auto f = custom_jvp([](auto x) { return x * x; },
                            [](auto x, auto dx) { return std::pair{x * x, 100.0 * dx}; });
  EXPECT_EQ(grad(f)(3.0).item(), 100);
  const auto g =
      custom_vjp([](auto x, auto y) { return x * y; },
                 [](auto x, auto y) { return std::pair{x * y, std::pair{x, y}}; },
                 [](auto kept, auto ct) { return std::tuple{ct * kept.first, ct * kept.second}; });
  const auto [a, b] = grad(g, argnums<0, 1>)(3.0, 5.0);
  EXPECT_EQ(a.item(), 3);
  EXPECT_EQ(b.item(), 5);
  const auto r = remat([](auto x) { return sin(sin(x)); });
  EXPECT_DOUBLE_EQ(grad(r)(0.5).item(), std::cos(std::sin(0.5)) * std::cos(0.5));
}

TEST(Typed, ItemInATraceNamesTheLine) {
  const auto f = [](Tensor<double> x) { return x.item() > 0 ? x : -x; };
  const int line = __LINE__ - 1;
  EXPECT_THAT(error_of([&] { grad(f)(1); }),
              HasSubstr("typed_test.cc:" + std::to_string(line) + ": TL-TRACE-001"));
}

}  // namespace
}  // namespace tlaloc::typed_test
