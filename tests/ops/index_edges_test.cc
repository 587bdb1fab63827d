// Gradients where indices repeat, tie or lie outside, by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ops/case.h"
#include "tests/transform/derived.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::testing {
namespace {

using ops::OutOfBounds;
using ops::Update;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsNan;

/// The gradients of the f64 arguments for that cotangent of the only result.
std::vector<std::vector<double>> gradients(const Arrays& args, const HostArray& ct,
                                           const ops::Body& build) {
  std::vector<Type> types;
  for (const HostArray& a : args) {
    types.push_back(Type::get(a.dtype(), std::vector<Dim>(a.extents().begin(), a.extents().end())));
  }
  const GraphRef g = graph_of(types, build);
  const Arrays r =
      interp::run(*transform::vjp(g, transform::differentiable_params(*g)), args + Arrays{ct});
  std::vector<std::vector<double>> all;
  for (std::size_t k = 1; k < r.size(); ++k) {
    const auto v = r[k].as<double>();
    all.emplace_back(v.begin(), v.end());
  }
  return all;
}

TEST(IndexEdges, TheGradientGoesWhereTheValueCameFrom) {
  auto take = [](OutOfBounds mode) {
    return gradients({vec({1, 2, 3}), ints({4}, {-5, 2, 0, 7})}, vec({3, 5, 5, 8}),
                     [=](const Vals& p) { return Vals{ops::take(p[0], p[1], 0, mode)}; })[0];
  };
  EXPECT_THAT(take(OutOfBounds::clip), ElementsAre(8, 0, 13));
  EXPECT_THAT(take(OutOfBounds::fill), ElementsAre(5, 0, 5));
}
TEST(IndexEdges, ALastWriterGetsTheGradientAlone) {
  for (OutOfBounds mode : {OutOfBounds::clip, OutOfBounds::fill}) {
    const auto g = gradients({vec({1, 2, 3}), ints({4}, {0, 2, 0, 9}), vec({4, 5, 6, 7})},
                             vec({10, 20, 30}), [=](const Vals& p) {
                               return Vals{ops::scatter_at(p[0], p[1], p[2], 0, Update::set, mode)};
                             });
    EXPECT_THAT(g[0], ElementsAre(0, 20, 0));
    if (mode == OutOfBounds::clip)
      EXPECT_THAT(g[1], ElementsAre(0, 0, 10, 30));
    else
      EXPECT_THAT(g[1], ElementsAre(0, 30, 10, 0));
  }
}
TEST(IndexEdges, TiesOfExtremesShare) {
  for (Update update : {Update::max, Update::min}) {
    const auto g = gradients(
        {vec({5, 1, 2}), ints({4}, {0, 0, 1, 1}), vec({5, 5, 1, 1})}, vec({12, 6, 7}),
        [=](const Vals& p) { return Vals{ops::scatter_at(p[0], p[1], p[2], 0, update)}; });
    EXPECT_THAT(g[0], ElementsAre(4, 2, 7));
    EXPECT_THAT(g[1], ElementsAre(4, 4, 2, 2));
  }
}
TEST(IndexEdges, NaNAmongExtremesTakesTheGradientAway) {
  const auto g = gradients(
      {vec({1, std::nan("")}), ints({1}, {0}), vec({std::nan("")})}, vec({3, 4}),
      [](const Vals& p) { return Vals{ops::scatter_at(p[0], p[1], p[2], 0, Update::max)}; });
  EXPECT_THAT(g[0], ElementsAre(0, 4));  // an element that nothing updates passes it on
  EXPECT_THAT(g[1], ElementsAre(0));
}
TEST(IndexEdges, FactorsOfZero) {
  const auto g = gradients(
      {vec({2}), ints({3}, {0, 0, 0}), vec({0, 3, 4})}, vec({1}),
      [](const Vals& p) { return Vals{ops::scatter_at(p[0], p[1], p[2], 0, Update::mul)}; });
  EXPECT_THAT(g[0], ElementsAre(0));
  EXPECT_THAT(g[1], ElementsAre(24, 0, 0));
}
TEST(IndexEdges, PaddingsGradientIsFreeOfTheRest) {
  // A NaN cotangent where x is must not reach the gradient of the padding value.
  const auto g =
      gradients({vec({1, 2}), arr({}, {9})}, vec({3, std::nan(""), 4, 5}), [](const Vals& p) {
        using Dims = std::vector<Dim>;
        return Vals{ops::pad(p[0], p[1], Dims{1}, Dims{1}, Dims{0})};
      });
  EXPECT_THAT(g[0], ElementsAre(IsNan(), 4));
  EXPECT_THAT(g[1], ElementsAre(8));
}
TEST(IndexEdges, CholeskyOfNoFactor) {
  const auto g = gradients({arr({2, 2}, {1, 0, 2, 1})}, arr({2, 2}, {1, 1, 1, 1}),
                           [](const Vals& p) { return Vals{ops::cholesky(p[0])}; });
  EXPECT_THAT(g[0], ElementsAre(IsNan(), 0, IsNan(), IsNan()));
}
TEST(IndexEdges, TheOtherTriangleHasNoGradient) {
  const auto g = gradients({arr({2, 2}, {2, 7, 1, 4}), arr({2, 1}, {2, 5})}, arr({2, 1}, {1, 1}),
                           [](const Vals& p) { return Vals{ops::triangular_solve(p[0], p[1])}; });
  EXPECT_EQ(g[0][1], 0);
  EXPECT_THAT(g[1], ElementsAre(0.375, 0.25));
}

}  // namespace
}  // namespace tlaloc::testing
