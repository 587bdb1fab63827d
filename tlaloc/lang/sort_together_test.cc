// Sorting several tensors together.
#include "tlaloc/lang/sort_together.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/join.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::sort_together_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

inline constexpr Axis<struct Row> row;
template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}

TEST(SortTogether, LaterKeysDecideAmongEquals) {
  const auto a = Tensor<int, row>::from({2, 1, 2, 1});
  const auto b = Tensor<double, row>::from({0.5, 3, 0.25, 3});
  const auto c = Tensor<int, row>::from({0, 1, 2, 3});
  const auto by_one = sort_together(a, b, c);
  static_assert(
      std::is_same_v<decltype(by_one),
                     const std::tuple<Tensor<int, row>, Tensor<double, row>, Tensor<int, row>>>);
  EXPECT_THAT(values(std::get<0>(by_one)), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(values(std::get<2>(by_one)), ElementsAre(1, 3, 0, 2));
  const auto [x, y, z] = sort_together<row, 2>(a, b, c);
  EXPECT_THAT(values(x), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(values(y), ElementsAre(3, 3, 0.25, 0.5));
  EXPECT_THAT(values(z), ElementsAre(1, 3, 2, 0));
}

TEST(SortTogether, AlongAnyAxis) {
  const auto m = Tensor<int, 2, 2>::from({3, 1, 2, 4});
  EXPECT_THAT(values(std::get<1>(sort_together<0>(m, m * 10))), ElementsAre(20, 10, 30, 40));
  EXPECT_THAT(values(std::get<1>(sort_together<1>(m, m * 10))), ElementsAre(10, 30, 20, 40));
}

TEST(SortTogether, CompiledAndInLanes) {
  using V = Tensor<double, 3>;
  const auto f = [](V key, V x) { return std::get<1>(sort_together(key, x)); };
  const auto key = V::from({2, 3, 1}), x = V::from({20, 30, 10});
  EXPECT_THAT(values(jit(f)(key, x)), ElementsAre(10, 20, 30));
  const auto lanes = vmap<0, unmapped>(f)(stack<0>(key, -key), x);
  EXPECT_THAT(values(lanes), ElementsAre(10, 20, 30, 30, 20, 10));
}

TEST(SortTogether, ChecksSizesThatTypesLeaveOpen) {
  const Tensor<int, any> two = Tensor<int, 2>::from({1, 2});
  const Tensor<int, any> three = Tensor<int, 3>::from({1, 2, 3});
  try {
    sort_together(two, three);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("TL-SHAPE-001: sort_together: 2 meets 3"));
  }
}

TEST(SortTogether, DerivativesAgreeWithFiniteDifferences) {
  using V = Tensor<double, 4>;
  const auto f = [](V key, V x) {
    const auto [k, y] = sort_together(key, x);
    return exp(k * y) * V::from({1, 2, 3, 4});
  };
  check_grads(f, {.order = 2}, argnums<0, 1>)(V::from({0.3, -0.7, 1.2, 0.1}),
                                              V::from({0.5, 0.6, -0.2, 1}));
}

}  // namespace
}  // namespace tlaloc::sort_together_test
