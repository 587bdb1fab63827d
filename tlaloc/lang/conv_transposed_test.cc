// Transposed convolutions through the typed API, held against derivatives of convolutions.
#include "tlaloc/lang/conv_transposed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tlaloc/lang/create.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/special.h"

namespace tlaloc::conv_transposed_test {
namespace {

using ::testing::ElementsAre;

inline constexpr Axis<struct Batch> batch;
template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}
/// Numbers without a pattern.
template <class X>
X some(std::int64_t count, double phase) {
  std::vector<double> v;
  for (std::int64_t i = 0; i < count; ++i) v.push_back(std::sin(phase + 1.7 * double(i)));
  return X::from(v);
}

TEST(ConvTransposed, SpreadsTheKernel) {
  const auto x = Tensor<double, batch, 2, 1>::from({1, 10});
  const auto kernel = Tensor<double, 3, 1, 1>::from({1, 2, 3});
  const auto y = conv1d_transposed<2>(x, kernel);
  static_assert(std::is_same_v<decltype(y), const Tensor<double, batch, 5, 1>>);
  EXPECT_THAT(values(y), ElementsAre(1, 2, 3 + 10, 20, 30));
  EXPECT_THAT(values(conv1d_transposed<2, 1>(x, kernel)), ElementsAre(2, 3 + 10, 20));
  const auto same = conv1d_transposed<2, same_padding>(x, kernel);
  static_assert(std::is_same_v<decltype(same), const Tensor<double, batch, 4, 1>>);
  EXPECT_THAT(values(same), ElementsAre(1, 2, 3 + 10, 20));
  const auto wide = conv1d_transposed<1, 0, 2>(x, kernel);
  EXPECT_THAT(values(wide), ElementsAre(1, 10, 2, 20, 3, 30));
  static_assert(std::is_same_v<decltype(conv1d_transposed<1, same_padding>(
                                   Tensor<double, batch, any, 1>(), kernel)),
                               Tensor<double, batch, any, 1>>);
}

/// The gradient of sum(conv(x) * y) in x is the transposed convolution of y.
template <class X, class Y, class K, class Conv, class Transposed>
void expect_transpose(const X&, const Y& y, const K& kernel, Conv conv, Transposed transposed) {
  const auto product = [&](X x) { return sum(conv(x, kernel) * y); };
  const X expected = grad(product)(zeros_like(X(transposed(y, kernel))));
  EXPECT_THAT(values(transposed(y, kernel)),
              ::testing::Pointwise(::testing::DoubleNear(1e-14), values(expected)));
}

TEST(ConvTransposed, IsTheTransposeOfConv) {
  using Y = Tensor<double, 2, 3, 2, 4>;
  const auto y = some<Y>(48, 0.3);
  const auto kernel = some<Tensor<double, 3, 2, 3, 4>>(72, 1.1);
  const auto conv = [](const auto& x, const auto& k) { return conv2d<2, 1>(x, k); };
  const auto back = [](const auto& v, const auto& k) { return conv2d_transposed<2, 1>(v, k); };
  expect_transpose(Tensor<double, 2, 5, 2, 3>(), y, kernel, conv, back);
  const auto conv_same = [](const auto& x, const auto& k) { return conv2d<2, same_padding>(x, k); };
  const auto back_same = [](const auto& v, const auto& k) {
    return conv2d_transposed<2, same_padding>(v, k);
  };
  expect_transpose(Tensor<double, 2, 6, 4, 3>(), y, kernel, conv_same, back_same);
  const auto deep = some<Tensor<double, 1, 2, 2, 1, 2>>(8, 0.7);
  const auto cube = some<Tensor<double, 2, 1, 2, 1, 2>>(8, 0.2);
  expect_transpose(
      Tensor<double, 1, 5, 4, 2, 1>(), deep, cube,
      [](const auto& x, const auto& k) { return conv3d<3, 0, 1>(x, k); },
      [](const auto& v, const auto& k) { return conv3d_transposed<3, 0, 1>(v, k); });
}

TEST(ConvTransposed, DerivativesAgreeWithFiniteDifferences) {
  using X = Tensor<double, 1, 2, 2>;
  using K = Tensor<double, 3, 1, 2>;
  check_grads([](X x, K k) { return sin(conv1d_transposed<2, 1>(x, k)); }, {.order = 2},
              argnums<0, 1>)(some<X>(4, 0), some<K>(6, 2));
}

}  // namespace
}  // namespace tlaloc::conv_transposed_test
