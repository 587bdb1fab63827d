// Composites where a half type is too narrow for the way there, and where two options meet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tlaloc/tlaloc.h"

namespace {

using ::testing::Each;
using ::testing::ElementsAre;

TEST(Composites, MeansOfManyHalves) {
  // f16 ends at 65504: a sum of more ones, and their number, are infinite there.
  constexpr int kMany = 70000;
  const auto ones = tl::ones<tlaloc::Half, kMany>();
  EXPECT_EQ(static_cast<float>(tl::mean(ones).item()), 1);
  EXPECT_EQ(static_cast<float>(tl::var(ones).item()), 0);
  EXPECT_EQ(
      static_cast<float>(tl::rms_norm(ones, tl::ones<tlaloc::Half, kMany>()).data()[kMany - 1]), 1);
  EXPECT_EQ(static_cast<float>(tl::layer_norm(ones + 1.0f, ones, ones).data()[0]), 1);
}

TEST(Composites, RotationsOfLatePositionsInBf16) {
  // bf16 knows 1000 and 1004, not 1001: angles are made in f32.
  const auto positions = tl::Tensor<int, 2>::from({1001, 1003});
  const auto exact = tl::to_vector(tl::rope(tl::ones<double, 2, 4>(), positions));
  const auto x = tl::ones<tlaloc::BFloat16, 2, 4>();
  const auto rough = tl::rope(x, positions);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(static_cast<float>(rough.data()[i]), exact[i], 0.01) << i;
  }
}

TEST(Composites, AWindowOfAttentionHasTwoSides) {
  // Values are one-hot, so that the output shows the weights: q and k of zeros weigh all seen keys
  // alike.
  const auto zeros = tl::zeros<double, 1, 5, 1>();
  const auto values = tl::reshape<1, 5, 5>(tl::eye<double, 5, 5>());
  const auto row = [&](const tl::AttentionOptions& options, std::size_t query) {
    const auto out = tl::to_vector(tl::attention(zeros, zeros, values, options));
    return std::vector<double>(out.begin() + static_cast<std::ptrdiff_t>(5 * query),
                               out.begin() + static_cast<std::ptrdiff_t>(5 * query + 5));
  };
  EXPECT_THAT(row({.window = 2}, 2), ElementsAre(0, 1 / 3., 1 / 3., 1 / 3., 0));
  EXPECT_THAT(row({.window = 2}, 0), ElementsAre(0.5, 0.5, 0, 0, 0));
  EXPECT_THAT(row({.causal = true, .window = 2}, 2), ElementsAre(0, 0.5, 0.5, 0, 0));
  EXPECT_THAT(row({}, 2), Each(0.2));
}

TEST(Composites, AttentionWhereOnlyARunKnowsTheWidth) {
  using Typed = tl::Tensor<double, 1, 3, 4>;
  using Open = tl::Tensor<double, tl::any, tl::any, tl::any>;
  const auto q = tl::random::normal<double, 1, 3, 4>(tl::random::key(1));
  const auto loss = [](auto x) { return tl::sum(tl::sin(tl::attention(x, x, x))); };
  const Typed known = tl::grad([&](Typed x) { return loss(x); })(q);
  const Open open = tl::grad([&](Open x) { return loss(x); })(Open(q));
  const auto a = tl::to_vector(known), b = tl::to_vector(open);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-15);
  EXPECT_EQ(tl::to_vector(tl::attention(tl::zeros<double, 0, 2, 4>(), tl::zeros<double, 0, 2, 4>(),
                                        tl::zeros<double, 0, 2, 4>()))
                .size(),
            0u);
  EXPECT_THROW(tl::attention(q, q, q, {.window = -1}), tl::Error);
  EXPECT_THROW(tl::attention(q, q, q, {.soft_cap = -5}), tl::Error);
}

TEST(Composites, TheNormAtZeroIsFlatToEveryOrder) {
  const auto f = [](tl::Tensor<double, 2> x) { return tl::norm(x); };
  EXPECT_THAT(tl::to_vector(tl::grad(f)(tl::zeros<double, 2>())), Each(0));
  EXPECT_THAT(tl::to_vector(tl::hessian(f)(tl::zeros<double, 2>())), Each(0));
}

}  // namespace
