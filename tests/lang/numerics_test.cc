// The table of docs/numerics.md, row by row: the page names these tests, and a test holds the two
// against each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tlaloc/tlaloc.h"

namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsNan;
using S = tl::Scalar<double>;
template <int N>
using V = tl::Tensor<double, N>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class F>
double slope(F f, double x) {
  return tl::grad([&](S v) { return f(v); })(x).item();
}
template <int N, class F>
std::vector<double> gradient(F f, const V<N>& x) {
  return tl::to_vector(tl::grad([&](V<N> v) { return tl::sum(f(v)); })(x));
}
template <class F>
std::pair<double, double> slopes(F f, double x, double y) {
  const auto [gx, gy] = tl::grad([&](S a, S b) { return f(a, b); }, tl::argnums<0, 1>)(x, y);
  return {gx.item(), gy.item()};
}

TEST(Numerics, AbsAtZero) {
  const auto f = [](S x) { return tl::abs(x); };
  EXPECT_EQ(slope(f, 0), 0);
  EXPECT_EQ(slope(f, -0.0), 0);
  EXPECT_THAT(slope(f, kNan), IsNan());
}

TEST(Numerics, ExtremesOfTwo) {
  const auto f = [](S a, S b) { return tl::maximum(a, b); };
  EXPECT_FALSE(std::signbit(tl::maximum(S(-0.0), S(0.0)).item()));
  EXPECT_THAT(tl::maximum(S(kNan), S(1.0)).item(), IsNan());
  EXPECT_EQ(slopes(f, 1, 1), std::pair(0.5, 0.5));
  EXPECT_EQ(slopes(f, kNan, 1), std::pair(0.0, 0.0));
}

TEST(Numerics, ExtremesOfAnAxis) {
  const auto f = [](const auto& x) { return tl::max(x); };
  EXPECT_THAT(gradient<3>(f, V<3>::from({3, 1, 3})), ElementsAre(0.5, 0, 0.5));
  EXPECT_THAT(tl::max(V<3>::from({3, kNan, 1})).item(), IsNan());
}

TEST(Numerics, Relu) {
  EXPECT_EQ(slope([](S x) { return tl::relu(x); }, 0), 0);
  EXPECT_EQ(slope([](S x) { return tl::relu6(x); }, 0), 0);
  EXPECT_THAT(tl::relu(S(kNan)).item(), IsNan());
  EXPECT_EQ(slope([](S x) { return tl::relu(x); }, kNan), 1);
}

TEST(Numerics, SqrtAndNormAtZero) {
  EXPECT_EQ(slope([](S x) { return tl::sqrt(x); }, 0), kInf);
  EXPECT_THAT(gradient<2>([](const auto& x) { return tl::norm(x); }, V<2>::from({0, 0})), Each(0));
}

TEST(Numerics, LogOutsideOfItsDomain) {
  EXPECT_THAT(tl::log(S(-1.0)).item(), IsNan());
  EXPECT_EQ(tl::log(S(0.0)).item(), -kInf);
  EXPECT_EQ(slope([](S x) { return tl::log(x); }, -2), -0.5);
  EXPECT_EQ(slope([](S x) { return tl::log(x); }, 0), kInf);
}

TEST(Numerics, Pow) {
  const auto f = [](S x, S y) { return tl::pow(x, y); };
  EXPECT_EQ(tl::pow(S(0.0), S(0.0)).item(), 1);
  EXPECT_EQ(slopes(f, 0, 0).first, 0);
  EXPECT_THAT(slopes(f, -2, 2).second, IsNan());
  EXPECT_EQ(slopes(f, -2, 2).first, -4);
}

TEST(Numerics, TheSideNotTaken) {
  const auto f = [](S x) { return tl::select(x > 0.0, tl::log(x), S(0)); };
  EXPECT_EQ(slope(f, 0), 0);
  EXPECT_EQ(slope(f, -1), 0);
  EXPECT_EQ(tl::jvp([&](S x) { return f(x); })(S(0.0), S(1.0)).second.item(), 0);
}

TEST(Numerics, SoftmaxOfNothing) {
  const auto low = V<2>::from({-kInf, -kInf});
  EXPECT_THAT(tl::to_vector(tl::softmax(low)), Each(0));
  EXPECT_EQ(tl::logsumexp(low).item(), -kInf);
  EXPECT_THAT(gradient<2>([](const auto& x) { return tl::logsumexp(x); }, low), Each(0));
}

TEST(Numerics, CrossEntropyOfAnUnknownId) {
  EXPECT_THAT(tl::cross_entropy(V<3>::from({1, 2, 3}), tl::Scalar<int>(3)).item(), IsNan());
  EXPECT_THAT(tl::cross_entropy(V<3>::from({1, 2, 3}), tl::Scalar<int>(-1)).item(), IsNan());
}

TEST(Numerics, IntegerDivision) {
  using I = tl::Scalar<std::int32_t>;
  const I least(std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ((I(7) / I(0)).item(), -1);
  EXPECT_EQ((tl::Scalar<std::uint8_t>(std::uint8_t{7}) / tl::Scalar<std::uint8_t>(std::uint8_t{0}))
                .item(),
            255);
  EXPECT_EQ((least / I(-1)).item(), least.item());
  EXPECT_EQ((I(-7) / I(2)).item(), -3);
}

TEST(Numerics, FloatsToIntegers) {
  const auto to_int = [](double x) { return tl::cast<std::int32_t>(S(x)).item(); };
  EXPECT_EQ(to_int(-1.9), -1);
  EXPECT_EQ(to_int(1e300), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(to_int(-kInf), std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(to_int(kNan), 0);
}

TEST(Numerics, Orders) {
  const auto sorted = tl::to_vector(tl::sort(V<5>::from({kNan, 0, -0.0, -1, kInf})));
  EXPECT_EQ(sorted[0], -1);
  EXPECT_FALSE(std::signbit(sorted[1]));  // 0 and -0 are equal: they keep their order
  EXPECT_TRUE(std::signbit(sorted[2]));
  EXPECT_EQ(sorted[3], kInf);
  EXPECT_THAT(sorted[4], IsNan());
  EXPECT_EQ(tl::argmax(V<3>::from({1, kNan, kInf})).item(), 1);
}

TEST(Numerics, OutsideOfTheDomain) {
  EXPECT_THAT(slope([](S x) { return tl::acosh(x); }, 0.5), IsNan());
  EXPECT_THAT(tl::remainder(S(1.0), S(0.0)).item(), IsNan());
  EXPECT_THAT(slopes([](S x, S y) { return tl::remainder(x, y); }, 1, 0).second, IsNan());
}

TEST(Numerics, ClipAtABound) {
  const auto f = [](S x) { return tl::clip(x, 0.0, 1.0); };
  EXPECT_EQ(slope(f, 0), 0.5);
  EXPECT_EQ(slope(f, 1), 0.5);
  EXPECT_EQ(slope(f, 0.5), 1);
  EXPECT_EQ(tl::clip(S(0.5), 2.0, 1.0).item(), 1);
}

TEST(Numerics, InverseHyperbolicsFarOut) {
  EXPECT_NEAR(slope([](S x) { return tl::asinh(x); }, 1e200) * 1e200, 1, 1e-12);
  EXPECT_NEAR(slope([](S x) { return tl::acosh(x); }, 1e200) * 1e200, 1, 1e-12);
}

TEST(Numerics, RunningSumsOfNothing) {
  const auto f = [](const auto& x) { return tl::cumlogsumexp(x); };
  const auto low = V<2>::from({-kInf, -kInf});
  EXPECT_THAT(tl::to_vector(f(low)), Each(-kInf));
  EXPECT_THAT(gradient<2>(f, low), Each(0));
}

TEST(Numerics, NarrowingRoundsOnce) {
  // In f32 the first would become a tie of f16, which then goes to the even one below.
  EXPECT_EQ(static_cast<float>(tl::cast<tlaloc::Half>(S(1 + 0x1p-11 + 0x1p-40)).item()),
            1 + 0x1p-10);
  EXPECT_EQ(static_cast<float>(tl::cast<tlaloc::BFloat16>(S(1 + 0x1p-8 + 0x1p-40)).item()),
            1 + 0x1p-7);
}

TEST(Numerics, ProductsWithZeros) {
  const auto f = [](const auto& x) { return tl::prod(x); };
  EXPECT_THAT(gradient<3>(f, V<3>::from({2, 0, 3})), ElementsAre(0, 6, 0));
  const auto second =
      tl::to_vector(tl::hessian([&](V<3> x) { return f(x); })(V<3>::from({0, 0, 3})));
  EXPECT_THAT(second, ElementsAre(0, 3, 0, 3, 0, 0, 0, 0, 0));
}

TEST(Numerics, RunningExtremes) {
  const auto f = [](const auto& x) { return tl::cummax(x); };
  EXPECT_THAT(gradient<3>(f, V<3>::from({3, 3, 1})), ElementsAre(3, 0, 0));
}

TEST(Numerics, MaxPool) {
  using Image = tl::Tensor<double, 1, 3, 1>;
  const auto f = [](const auto& x) { return tl::max_pool<3>(x); };
  const auto g = tl::grad([&](Image x) { return tl::sum(f(x)); })(Image::from({2, 2, 1}));
  EXPECT_THAT(tl::to_vector(g), ElementsAre(1, 0, 0));
  EXPECT_THAT(tl::to_vector(f(Image::from({2, kNan, 1})))[0], IsNan());
}

TEST(Numerics, SubnormalsAreKept) {
  EXPECT_EQ((S(1e-310) * 0.5).item(), 1e-310 * 0.5);
  EXPECT_EQ((tl::Scalar<float>(1e-40f) + tl::Scalar<float>(1e-40f)).item(), 1e-40f + 1e-40f);
}

TEST(Numerics, HalfTypesRoundAtEachOp) {
  const tl::Scalar<tlaloc::BFloat16> one(1.0f), small(0x1p-9f);
  EXPECT_EQ(static_cast<float>(((one + small) - one).item()), 0);
  // A sum is rounded at its end only.
  const auto many = tl::full<tlaloc::BFloat16, 512>(0x1p-9f);
  EXPECT_EQ(static_cast<float>(tl::sum(many).item()), 1);
}

TEST(Numerics, StretchedUniforms) {
  const auto key = tl::random::key(3);
  const auto unit = tl::to_vector(tl::random::uniform<float, 64>(key));
  const auto wide = tl::to_vector(tl::random::uniform<float, 64>(key, 0.1f, 1.7f));
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const float scaled = unit[i] * (1.7f - 0.1f);  // rounded here, and once more by the sum
    EXPECT_EQ(wide[i], std::max(0.1f, scaled + 0.1f));
  }
}

}  // namespace
