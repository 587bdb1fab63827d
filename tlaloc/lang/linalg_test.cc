// Linear algebra, diagonals and writing at indices, through the typed API.
#include "tlaloc/lang/linalg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/contract.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/einsum.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/scatter.h"

namespace tlaloc::linalg_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

inline constexpr Axis<struct Batch> batch;
inline constexpr Axis<struct Row, 2> row;
inline constexpr Axis<struct Column, 2> column;
template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}
template <class X, class Y>
constexpr bool is = std::is_same_v<X, Y>;

using Square = Tensor<double, 2, 2>;

TEST(Linalg, CholeskyOfAKnownMatrix) {
  // [4 2; 2 10] = L Lᵀ with L = [2 0; 1 3]; what lies above the diagonal is not read.
  EXPECT_THAT(values(cholesky(Square::from({4, 99, 2, 10}))), ElementsAre(2, 0, 1, 3));
  EXPECT_TRUE(std::isnan(values(cholesky(Square::from({-1, 0, 0, 1})))[0]));
  const auto two = Tensor<double, batch, row, column>::from({4, 2, 2, 10, 1, 0, 0, 9});
  static_assert(is<decltype(cholesky(two)), Tensor<double, batch, row, column>>);
  EXPECT_THAT(values(cholesky(two)), ElementsAre(2, 0, 1, 3, 1, 0, 0, 3));
}

TEST(Linalg, TriangularSolveSolves) {
  const auto l = Square::from({2, 99, 1, 3});
  const auto b = Tensor<double, 2, 1>::from({4, 11});
  static_assert(is<decltype(triangular_solve(l, b)), Tensor<double, 2, 1>>);
  EXPECT_THAT(values(triangular_solve(l, b)), ElementsAre(2, 3));
  // With Lᵀ: [2 1; 0 3] x = b.
  EXPECT_THAT(values(triangular_solve(l, b, {.transpose = true})),
              ElementsAre((4 - 11. / 3) / 2, 11. / 3));
  EXPECT_THAT(values(triangular_solve(l, b, {.unit = true})), ElementsAre(4, 7));
  // The upper triangle: [2 99; 0 3].
  EXPECT_THAT(values(triangular_solve(l, b, {.lower = false})),
              ElementsAre((4 - 99 * 11. / 3) / 2, 11. / 3));
}

TEST(Linalg, SizesThatTypesLeaveOpenAreChecked) {
  const Tensor<double, any, any> a = Tensor<double, 3, 3>::from({1, 0, 0, 0, 1, 0, 0, 0, 1});
  const Tensor<double, any, any> b = Tensor<double, 2, 1>::from({4, 11});
  try {
    triangular_solve(a, b);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("linalg_test.cc"));
    EXPECT_THAT(e.what(), HasSubstr("TL-SHAPE-006"));
  }
}

TEST(Linalg, DerivativesAgreeWithFiniteDifferences) {
  // A A.T + 1 is positive definite, so that the whole is smooth in A and b.
  const auto solve = [](Square a, Tensor<double, 2, 3> b) {
    const auto l = cholesky(matmul(a, transpose(a)) + diag(Tensor<double, 2>::from({1, 1})));
    return triangular_solve(l, triangular_solve(l, b), {.transpose = true});
  };
  check_grads(solve, {.order = 2}, argnums<0, 1>)(
      Square::from({0.3, -0.7, 1.1, 0.4}), Tensor<double, 2, 3>::from({1, 2, -1, 0.5, 0, 3}));
}

TEST(Linalg, DiagonalsGoBothWays) {
  const auto v = Tensor<double, row>::from({3, INFINITY});
  static_assert(is<decltype(diag(v)), Tensor<double, row, row>>);
  EXPECT_THAT(values(diag(v)), ElementsAre(3, 0, 0, INFINITY));
  const auto m = Tensor<int, 2, 2>::from({1, 2, 3, 4});
  EXPECT_THAT(values(einsum<"ii->i">(m)), ElementsAre(1, 4));
  EXPECT_THAT(values(diag(Tensor<int, 0>::from({}))), ElementsAre());
}

TEST(Scatter, EveryKindMergesUpdatesInPlace) {
  const auto x = Tensor<double, 4>::from({1, 2, 3, 4});
  const auto at = Tensor<int, 3>::from({1, 1, -1});
  const auto u = Tensor<double, 3>::from({5, 0.5, 10});
  EXPECT_THAT(values(scatter_add<0>(x, at, u)), ElementsAre(1, 7.5, 3, 14));
  EXPECT_THAT(values(scatter_mul<0>(x, at, u)), ElementsAre(1, 5, 3, 40));
  EXPECT_THAT(values(scatter_min<0>(x, at, u)), ElementsAre(1, 0.5, 3, 4));
  EXPECT_THAT(values(scatter_max<0>(x, at, u)), ElementsAre(1, 5, 3, 10));
  const auto once = Tensor<int, 2>::from({0, -1});
  EXPECT_THAT(values(scatter_set<0>(x, once, Tensor<double, 2>::from({8, 9}))),
              ElementsAre(8, 2, 3, 9));
  // Columns of a matrix by a scalar index.
  const auto m = Square::from({1, 2, 3, 4});
  EXPECT_THAT(values(scatter_set<1>(m, 0, Tensor<double, 2>::from({7, 8}))),
              ElementsAre(7, 2, 8, 4));
}

TEST(Scatter, DerivativesAgreeWithFiniteDifferences) {
  const auto x = Tensor<double, 4>::from({1, 2, 3, 4});
  const auto u = Tensor<double, 2>::from({5, 0.5});
  const auto at = Tensor<int, 2>::from({3, 1});
  const auto check = [&](auto f) { check_grads(f, {.order = 2}, argnums<0, 1>)(x, u); };
  check([&](Tensor<double, 4> a, Tensor<double, 2> b) { return exp(scatter_set<0>(a, at, b)); });
  check([&](Tensor<double, 4> a, Tensor<double, 2> b) { return exp(scatter_mul<0>(a, at, b)); });
  check([&](Tensor<double, 4> a, Tensor<double, 2> b) { return exp(scatter_max<0>(a, at, b)); });
  check([&](Tensor<double, 4> a, Tensor<double, 2> b) { return exp(scatter_min<0>(a, at, b)); });
}

}  // namespace
}  // namespace tlaloc::linalg_test
