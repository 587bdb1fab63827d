// Bits of elements through the typed API.
#include "tlaloc/lang/bits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/special.h"

namespace tlaloc::bits_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

inline constexpr Axis<struct Row, 2> row;
template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}

TEST(Bits, OfOneWidth) {
  const auto x = Tensor<float, row>::from({1, -2});
  const auto bits = bitcast_convert<std::uint32_t>(x);
  static_assert(std::is_same_v<decltype(bits), const Tensor<std::uint32_t, row>>);
  EXPECT_THAT(values(bits), ElementsAre(0x3f800000u, 0xc0000000u));
  EXPECT_THAT(values(bitcast_convert<float>(bits)), ElementsAre(1, -2));
}

TEST(Bits, PartsAreTheLastAxis) {
  const auto x = Tensor<double, row>::from({1, -2});
  const auto parts = bitcast_convert<std::uint32_t>(x);
  static_assert(std::is_same_v<decltype(parts), const Tensor<std::uint32_t, row, 2>>);
  EXPECT_THAT(values(parts), ElementsAre(0u, 0x3ff00000u, 0u, 0xc0000000u));
  const auto whole = bitcast_convert<double>(parts);
  static_assert(std::is_same_v<decltype(whole), const Tensor<double, row>>);
  EXPECT_THAT(values(whole), ElementsAre(1, -2));
  const Tensor<std::uint32_t, any> three = Tensor<std::uint32_t, 3>::from({1, 2, 3});
  try {
    bitcast_convert<double>(three);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("bitcast_convert: last axis and number of parts"));
  }
}

TEST(Bits, ReducedPrecisionRoundsHalvesToEven) {
  // With 7 bits behind the point, neighbours of 1 are 1 and 1 + 2^-7.
  const double step = 1.0 / 128;
  const auto x = Tensor<double, 4>::from({1 + step / 2, 1 + 1.5 * step, 1 + 0.6 * step, 1e300});
  EXPECT_THAT(values(reduce_precision<8, 7>(x)),
              ElementsAre(1, 1 + 2 * step, 1 + step, std::numeric_limits<double>::infinity()));
}

TEST(Bits, DerivativesGoThroughABarrier) {
  const auto f = [](Tensor<double, 2> x) { return sin(optimization_barrier(x * x)); };
  EXPECT_THAT(values(f(Tensor<double, 2>::from({0, 0}))), ElementsAre(0, 0));
  check_grads(f, {.order = 2})(Tensor<double, 2>::from({0.3, -0.7}));
}

}  // namespace
}  // namespace tlaloc::bits_test
