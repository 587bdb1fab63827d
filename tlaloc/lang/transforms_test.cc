// The run-time entry points of transforms: derivatives, vmap, jit, and their nesting.
#include <array>
#include <cmath>

#include "tlaloc/lang/inspect.h"
#include "tlaloc/lang/testing.h"

namespace tlaloc::core::testing {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Where kHere = Where::current();

TEST(Transforms, GradOfAScalarFunction) {
  const Fn f([](const auto& x) { return std::vector{mul(sin(x[0]), x[1])}; });
  EXPECT_NEAR(value(grad(f, {number(0.5), number(3)})), 3 * std::cos(0.5), 1e-15);
  const Leaves both = value_and_grad(f, args({number(0.5), number(3)}), std::array{1, 0}, kHere);
  ASSERT_EQ(both.size(), 3);
  EXPECT_NEAR(value(both[0]), 3 * std::sin(0.5), 1e-15);
  EXPECT_NEAR(value(both[1]), std::sin(0.5), 1e-15);
  EXPECT_NEAR(value(both[2]), 3 * std::cos(0.5), 1e-15);
}

TEST(Transforms, GradsNestByStaging) {
  const Fn f([](const auto& x) { return std::vector{sin(mul(x[0], x[0]))}; });
  const Fn df([&](const auto& x) { return std::vector{grad(f, x)}; });
  const Fn ddf([&](const auto& x) { return std::vector{grad(df, x)}; });
  const double x = 0.7, q = x * x;
  EXPECT_NEAR(value(grad(df, {number(x)})), 2 * std::cos(q) - 4 * q * std::sin(q), 1e-13);
  EXPECT_NEAR(value(grad(ddf, {number(x)})), -12 * x * std::sin(q) - 8 * q * x * std::cos(q),
              1e-12);
}

TEST(Transforms, PerturbationsAreNotConfused) {
  // d/dx [x * d/dy (x + y)] = 1, the classic case.
  const Fn f([](const auto& x) {
    const Fn inner([&](const auto& y) { return std::vector{add(x[0], y[0])}; });
    return std::vector{mul(x[0], grad(inner, {number(1)}))};
  });
  EXPECT_EQ(value(grad(f, {number(1)})), 1);
}

TEST(Transforms, IntegersHaveZeroGradientsAndErrorsNameTheLoss) {
  const Leaves g =
      value_and_grad(Fn([](const auto& x) { return std::vector{mul(x[0], x[0])}; }),
                     args({number(2), scalar_int(DType::i32, 5)}), std::array{0, 1}, kHere);
  EXPECT_EQ(value(g[1]), 4);
  EXPECT_EQ(dtype(g[2]), DType::i32);
  EXPECT_EQ(value(g[2]), 0);
  EXPECT_THAT(
      error_of([&] {
        value_and_grad(Fn([](const auto& x) { return x; }), args({doubles({2}, {1, 2})}), kFirst,
                       kHere);
      }),
      AllOf(HasSubstr("transforms_test.cc:" + std::to_string(kHere.line())),
            HasSubstr("TL-GRAD-001: grad: the loss is not a floating scalar: result is f64[2]")));
}

TEST(Transforms, JvpAndVjpAgree) {
  const Fn f([](const auto& x) { return std::vector{mul(sin(x[0]), x[1]), sum(x[0])}; });
  const std::vector<Ref> at{doubles({2}, {1, 2}), doubles({2}, {3, 4})};
  const std::vector<Ref> u{doubles({2}, {0.3, -1}), doubles({2}, {2, 0.5})};
  const Leaves forward = jvp(f, args(at), args(u), kHere);
  ASSERT_EQ(forward.size(), 4);
  LinearMap pullback, tangent;
  const Leaves y = vjp(f, args(at), std::array{0, 1}, pullback, kHere);
  EXPECT_EQ(values(y[0]), values(forward[0]));
  const std::vector<Ref> ct{doubles({2}, {1, -2}), number(0.5)};
  const Leaves back = pullback(list(ct), kHere);
  const auto dot = [](const Ref& a, const Ref& b) { return value(sum(mul(a, b))); };
  EXPECT_NEAR(dot(forward[2], ct[0]) + dot(forward[3], ct[1]),
              dot(back[0], u[0]) + dot(back[1], u[1]), 1e-14);
  linearize(f, args(at), tangent, kHere);
  EXPECT_EQ(values(tangent(list(u), kHere)[0]), values(forward[2]));
  // A missing cotangent is zero.
  EXPECT_EQ(values(pullback(list({Ref(), number(1)}), kHere)[0]), (std::vector<double>{1, 1}));
  EXPECT_THAT(error_of([&] { pullback(list({number(1), number(1)}), kHere); }),
              HasSubstr("TL-DTYPE-001: vjp: the value for result is f64[], needed is f64[2]"));
}

TEST(Transforms, PullbackIsUsableInATrace) {
  const Fn f([](const auto& x) { return std::vector{mul(sin(x[0]), x[0])}; });
  LinearMap pullback;
  vjp(f, args({number(0.4)}), kFirst, pullback, kHere);
  const Fn through([&](const auto& ct) { return std::vector{pullback(list(ct), kHere)[0]}; });
  const double slope = std::sin(0.4) + 0.4 * std::cos(0.4);
  EXPECT_NEAR(value(grad(through, {number(5)})), slope, 1e-15);
  // Made and used inside a trace: second derivatives.
  const Fn inside([&](const auto& x) {
    LinearMap p;
    vjp(f, args(x), kFirst, p, kHere);
    return std::vector{p(list({number(1)}), kHere)[0]};
  });
  EXPECT_NEAR(value(grad(inside, {number(0.4)})), 2 * std::cos(0.4) - 0.4 * std::sin(0.4), 1e-14);
}

TEST(Transforms, Jacobians) {
  const Fn f([](const auto& x) { return std::vector{mul(x[0], mul(x[0], x[1]))}; });
  const std::vector<Ref> at{doubles({2}, {1, 2}), doubles({2}, {3, 4})};
  for (const auto& jac : {jacfwd, jacrev}) {
    const Leaves j = jac(f, args(at), std::array{0, 1}, kHere);
    ASSERT_EQ(j.size(), 2);
    EXPECT_THAT(values(j[0]), ElementsAre(6, 0, 0, 16));
    EXPECT_THAT(values(j[1]), ElementsAre(1, 0, 0, 4));
  }
  const Fn loss([&](const auto& x) { return std::vector{sum(mul(x[0], mul(x[0], x[0])))}; });
  const Leaves h = hessian(loss, args({doubles({2}, {1, 2})}), kFirst, kHere);
  EXPECT_THAT(values(h[0]), ElementsAre(6, 0, 0, 12));
  const Leaves hv =
      hvp(loss, args({doubles({2}, {1, 2})}), list({doubles({2}, {1, -1})}), kFirst, kHere);
  EXPECT_THAT(values(hv[0]), ElementsAre(6, -12));
}

TEST(Transforms, VmapMapsAnAxis) {
  const Fn f([](const auto& x) { return std::vector{sum(mul(x[0], x[1]))}; });
  Leaves in;
  in.argument();
  const std::array axes{kBatch, dim(2)};
  in.add(doubles({3, 2}, {1, 2, 3, 4, 5, 6}), DType::f64, axes);
  in.argument();
  in.add(doubles({2}, {1, 10}));
  const Leaves y = vmap(f, in, std::array{0, -1}, kBatch, kHere);
  EXPECT_EQ(type_text(y[0]), "f64[batch=3]");
  EXPECT_THAT(values(y[0]), ElementsAre(21, 43, 65));
  // Gradients per example: vmap of grad.
  const Fn g([&](const auto& x) { return std::vector{grad(f, x)}; });
  const Leaves per = vmap(g, in, std::array{0, -1}, kBatch, kHere);
  EXPECT_THAT(values(per[0]), ElementsAre(1, 10, 1, 10, 1, 10));
  EXPECT_THAT(error_of([&] { vmap(f, in, std::array{-1, -1}, kBatch, kHere); }),
              HasSubstr("TL-VMAP-001: vmap: no argument carries the axis batch"));
}

TEST(Transforms, JitTracesOnceForEverySize) {
  int runs = 0;
  const Fn f([&](const auto& x) {
    ++runs;
    return std::vector{sum(mul(x[0], x[1])), add(x[0], x[1])};
  });
  const std::array axes{kBatch};
  JitCache cache;
  const auto call = [&](std::vector<double> a, std::vector<double> b) {
    Leaves in;
    const auto n = static_cast<std::int64_t>(a.size());
    in.argument("x");
    in.add(doubles({n}, a), DType::f64, axes);
    in.argument("y");
    in.add(doubles({static_cast<std::int64_t>(b.size())}, b), DType::f64, axes);
    return jit(cache, f, in, kHere);
  };
  EXPECT_EQ(value(call({1, 2}, {3, 4})[0]), 11);
  EXPECT_EQ(value(call({1, 2, 3}, {1, 1, 1})[0]), 6);
  EXPECT_EQ(type_text(call({5}, {6})[1]), "f64[batch=1]");
  EXPECT_EQ(value(call({}, {})[0]), 0);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(cache.traces(), 1);
  EXPECT_THAT(explain(cache), HasSubstr("x: f64[batch]"));
  EXPECT_THAT(error_of([&] { call({1, 2}, {1, 2, 3}); }),
              HasSubstr("TL-SHAPE-011: jit: axis batch is 2 in x and 3 in y: f64[2] and f64[3]"));
}

TEST(Transforms, JitInsideOtherTransforms) {
  const Fn f([](const auto& x) { return std::vector{sum(mul(sin(x[0]), x[0]))}; });
  JitCache cache;
  const std::array axes{kBatch};
  const Fn jitted([&](const auto& x) {
    Leaves in;
    in.argument();
    in.add(x[0], DType::f64, axes);
    return std::vector{jit(cache, f, in, kHere)[0]};
  });
  EXPECT_NEAR(value(grad(jitted, {doubles({1}, {0.3})})), std::sin(0.3) + 0.3 * std::cos(0.3),
              1e-15);
  EXPECT_EQ(values(grad(jitted, {doubles({2}, {0, 0})})), (std::vector<double>{0, 0}));
  EXPECT_EQ(cache.traces(), 1);
}

TEST(Transforms, CapturesAreBoundNotCopied) {
  std::vector<double> many(50, 2);
  const Ref w = doubles({50}, many);
  const Fn f([&](const auto& x) { return std::vector{sum(mul(x[0], w))}; });
  JitCache cache;
  EXPECT_EQ(value(jit(cache, f, args({doubles({50}, many)}), kHere)[0]), 200);
  EXPECT_THAT(explain(cache), HasSubstr("captured, frozen at this trace: f64[50]"));
  EXPECT_THAT(graph_text(f, args({doubles({50}, many)}), kHere), HasSubstr("f64[50]"));
  // Through nested traces, in both directions of differentiation.
  const Fn g([&](const auto& x) {
    const Fn inner([&](const auto& y) { return std::vector{sum(mul(mul(x[0], y[0]), w))}; });
    return std::vector{sum(grad(inner, x))};
  });
  EXPECT_EQ(values(grad(g, {doubles({50}, many)})), std::vector<double>(50, 2));
}

TEST(Transforms, AnExceptionInATracedFunctionUnwinds) {
  const Fn f([](const auto& x) {
    const Fn inner([](const auto&) -> std::vector<Ref> { throw std::runtime_error("mine"); });
    return std::vector{grad(inner, x)};
  });
  EXPECT_THROW(grad(f, {number(1)}), std::runtime_error);
  EXPECT_EQ(
      value(grad(Fn([](const auto& x) { return std::vector{mul(x[0], x[0])}; }), {number(3)})), 6);
}

}  // namespace
}  // namespace tlaloc::core::testing
