// Batch normalization through the typed API.
#include "tlaloc/lang/batch_norm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/derivatives.h"

namespace tlaloc::batch_norm_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

inline constexpr Axis<struct Batch> batch;
inline constexpr Axis<struct Channels, 2> channels;
using Vector = Tensor<double, channels>;
using Images = Tensor<double, batch, 2, channels>;
template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}

TEST(BatchNorm, NormalizesEachChannel) {
  const auto x = Images::from({1, 10, 3, 10, 5, 30, 7, 30});
  const auto [mean, variance] = batch_statistics(x);
  static_assert(std::is_same_v<decltype(mean), const Vector>);
  EXPECT_THAT(values(mean), ElementsAre(4, 20));
  EXPECT_THAT(values(variance), ElementsAre(5, 100));
  const auto y = batch_norm(x, mean, variance, Vector::from({2, 1}), Vector::from({1, 0}), 0);
  static_assert(std::is_same_v<decltype(y), const Images>);
  const double s = 2 / std::sqrt(5);
  const auto is = [](double v) { return DoubleNear(v, 1e-15); };
  EXPECT_THAT(values(y), ElementsAre(is(1 - 3 * s), is(-1), is(1 - s), is(-1), is(1 + s), is(1),
                                     is(1 + 3 * s), is(1)));
  // Running statistics, no scale, no bias; epsilon counts.
  const auto plain = batch_norm(x, Vector::from({1, 0}), Vector::from({3, 99}), {}, {}, 1);
  EXPECT_THAT(values(plain), ElementsAre(0, 1, 1, 1, 2, 3, 3, 3));
  const auto biased =
      batch_norm(x, Vector::from({1, 0}), Vector::from({3, 99}), {}, Vector::from({5, 6}), 1);
  EXPECT_THAT(values(biased), ElementsAre(5, 7, 6, 7, 7, 9, 8, 9));
}

TEST(BatchNorm, ChecksSizesThatTypesLeaveOpen) {
  const Tensor<double, any, any> x = Tensor<double, 2, 2>::from({1, 2, 3, 4});
  const Tensor<double, any> three = Tensor<double, 3>::from({1, 2, 3});
  try {
    batch_norm(x, three, three);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("TL-SHAPE-001: batch_norm: 2 meets 3"));
  }
}

TEST(BatchNorm, DerivativesAgreeWithFiniteDifferences) {
  using Matrix = Tensor<double, 3, channels>;
  const auto f = [](Matrix x, Vector scale, Vector bias) {
    const auto [mean, variance] = batch_statistics(x);
    return batch_norm(x, mean, variance, scale, bias);
  };
  check_grads(f, {.order = 2}, argnums<0, 1, 2>)(Matrix::from({0.3, 1.2, -0.7, 0.1, 1.1, 2.5}),
                                                 Vector::from({1.5, -0.5}), Vector::from({1, 2}));
}

}  // namespace
}  // namespace tlaloc::batch_norm_test
