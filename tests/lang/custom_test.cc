// Derivatives of the user's own that reverse mode can use and forward mode can't.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>

#include "tlaloc/tlaloc.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using S = tl::Scalar<double>;

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const tl::Error& e) {
    return e.what();
  }
  return "no error";
}

/// The identity, with `rule` for the cotangent.
template <class Rule>
auto with_backward(Rule rule) {
  return tl::custom_vjp([](S x) { return x; }, [](S x) { return std::pair(x, x); },
                        [rule](S, S ct) { return rule(ct); });
}

TEST(CustomVjp, ABackwardRuleMayClip) {
  const auto clipped = with_backward([](S ct) { return tl::clip(ct, -1.0, 1.0); });
  const auto f = [&](S x) { return 10.0 * clipped(x) + tl::sin(clipped(x)); };
  EXPECT_DOUBLE_EQ(tl::grad(f)(0.5).item(), 1 + std::cos(0.5));
  // Second order differentiates the rule itself: the clipped part is constant.
  EXPECT_DOUBLE_EQ(tl::grad(tl::grad(f))(0.5).item(), -std::sin(0.5));
  EXPECT_THAT(tl::to_vector(tl::vmap<0>(tl::grad(f))(tl::Tensor<double, 2>::from({0.5, 0}))),
              ElementsAre(1 + std::cos(0.5), 2));
  EXPECT_THAT(error_of([&] { tl::jvp(f)(S(0.5), S(1.0)); }),
              HasSubstr("TL-CUSTOM-003: jvp: the backward rule of"));
}

TEST(CustomVjp, ABackwardRuleMayMultiplyCotangents) {
  const auto squared = with_backward([](S ct) { return ct * ct / (1.0 + ct); });
  EXPECT_DOUBLE_EQ(tl::grad([&](S x) { return 3.0 * squared(x); })(0.5).item(), 9.0 / 4);
}

TEST(CustomVjp, ABackwardRuleMayLoop) {
  // The fixed point x = cos(a x), differentiated implicitly: the rule solves u = ct + u dg/dx in a
  // loop of its own.
  const auto solve = [](S a) {
    return tl::while_loop([=](S x) { return tl::abs(x - tl::cos(a * x)) > 1e-14; },
                          [=](S x) { return tl::cos(a * x); }, S(0.5));
  };
  const auto fixed = tl::custom_vjp(
      solve,
      [=](S a) {
        const S x = solve(a);
        return std::pair(x, std::pair(a, x));
      },
      [](std::pair<S, S> kept, S ct) {
        const auto [a, x] = kept;
        const S dx = -a * tl::sin(a * x), da = -x * tl::sin(a * x);
        const S u = tl::while_loop([=](S v) { return tl::abs(v - (ct + v * dx)) > 1e-14; },
                                   [=](S v) { return ct + v * dx; }, ct);
        return u * da;
      });
  const double a = 0.6, h = 1e-5;
  const double slope = (solve(a + h).item() - solve(a - h).item()) / (2 * h);
  EXPECT_NEAR(tl::grad(fixed)(a).item(), slope, 1e-8);
  EXPECT_NEAR(tl::jit(tl::grad(fixed))(a).item(), slope, 1e-8);
}

TEST(CustomJvp, ARuleThatIsNotLinearIsRefusedInReverse) {
  const auto wrong =
      tl::custom_jvp([](S x) { return x; }, [](S x, S dx) { return std::pair(x, dx * dx); });
  EXPECT_THAT(error_of([&] { tl::grad(wrong)(1.0); }),
              HasSubstr("TL-GRAD-002: mul: can't be transposed: a product of two linear values"));
}

}  // namespace
