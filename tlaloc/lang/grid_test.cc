// Grids and triangles of ones through the typed API.
#include "tlaloc/lang/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/operators.h"

namespace tlaloc::grid_test {
namespace {

using ::testing::ElementsAre;

inline constexpr Axis<struct Batch> batch;
template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}

TEST(Grid, EachVectorVariesAlongItsAxis) {
  const auto x = Tensor<double, batch>::from({1, 2});
  const auto y = Tensor<int, 3>::from({5, 6, 7});
  const auto [first, second] = meshgrid(x, y);
  static_assert(std::is_same_v<decltype(first), const Tensor<double, batch, 3>>);
  static_assert(std::is_same_v<decltype(second), const Tensor<int, batch, 3>>);
  EXPECT_THAT(values(first), ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(values(second), ElementsAre(5, 6, 7, 5, 6, 7));
  EXPECT_THAT(values(std::get<0>(meshgrid(y))), ElementsAre(5, 6, 7));
}

TEST(Grid, DerivativesAgreeWithFiniteDifferences) {
  const auto f = [](Tensor<double, 2> x, Tensor<double, 3> y) {
    const auto [a, b] = meshgrid(x, y);
    return exp(a * b);
  };
  check_grads(f, {.order = 2}, argnums<0, 1>)(Tensor<double, 2>::from({0.3, -0.7}),
                                              Tensor<double, 3>::from({0.1, 1.1, -0.4}));
}

TEST(Grid, TrianglesOfOnes) {
  const auto x = tri<float, 2, 3>();
  static_assert(std::is_same_v<decltype(x), const Tensor<float, 2, 3>>);
  EXPECT_THAT(values(x), ElementsAre(1, 0, 0, 1, 1, 0));
  EXPECT_THAT(values((tri<int, 2, 3, 1>())), ElementsAre(1, 1, 0, 1, 1, 1));
  const auto like = Tensor<double, batch>::from({7, 8});
  EXPECT_THAT(values((tri<int, batch, 2, -1>(like))), ElementsAre(0, 0, 1, 0));
}

}  // namespace
}  // namespace tlaloc::grid_test
