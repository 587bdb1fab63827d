#include "tlaloc/base/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {

TEST(DType, NamesRoundTrip) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name(t)), t);
  }
  EXPECT_EQ(parse_dtype("f33"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(DType, ValuesAreStable) {
  // They are in caches and artifacts.
  EXPECT_EQ(static_cast<int>(DType::boolean), 0);
  EXPECT_EQ(static_cast<int>(DType::i64), 4);
  EXPECT_EQ(static_cast<int>(DType::u64), 8);
  EXPECT_EQ(static_cast<int>(DType::bf16), 10);
  EXPECT_EQ(static_cast<int>(DType::f64), 12);
}

TEST(DType, DispatchGivesTheTypeThatStores) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto t = static_cast<DType>(i);
    if (is_complex(t)) continue;
    dispatch(t, [&]<class T>(TypeTag<T>) {
      EXPECT_EQ(dtype_of<T>, t);
      EXPECT_EQ(sizeof(T), static_cast<std::size_t>(byte_size(t)));
      using Compute = ComputeType<T>;
      EXPECT_EQ(is_float(t), std::is_floating_point_v<Compute>);
      EXPECT_EQ(is_unsigned_integer(t), (std::is_unsigned_v<T> && !std::is_same_v<T, bool>));
    });
    EXPECT_EQ(is_integer(t), is_signed_integer(t) || is_unsigned_integer(t));
    EXPECT_EQ(is_differentiable(t), is_float(t));
  }
  EXPECT_EQ(bit_width(DType::boolean), 1);
  EXPECT_EQ(bit_width(DType::bf16), 16);
}

TEST(DType, ComplexIsRefusedByName) {
  try {
    dispatch(DType::c64, [](auto) {});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-DTYPE-003");
    EXPECT_NE(std::string(e.what()).find("c64"), std::string::npos);
  }
}

/// A binary format with `fraction` stored bits of fraction and smallest normal exponent `lowest`.
struct Format {
  int fraction, lowest;
  double largest;
};
constexpr Format kHalf{10, -14, 65504.0}, kBFloat16{7, -126, 0x1.fep127};

/// What the bits mean, by the definition of the format.
double decode(std::uint16_t bits, const Format& f) {
  const int mantissa = bits & ((1 << f.fraction) - 1);
  const int exponent = (bits & 0x7fff) >> f.fraction;
  const int top = (0x7fff >> f.fraction);
  double x;
  if (exponent == top) {
    x = mantissa ? std::numeric_limits<double>::quiet_NaN()
                 : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    x = std::ldexp(mantissa, f.lowest - f.fraction);
  } else {
    x = std::ldexp(mantissa + (1 << f.fraction), exponent - 1 + f.lowest - f.fraction);
  }
  return bits & 0x8000 ? -x : x;
}
/// x rounded to the format, to nearest and ties to even.
double round_to(double x, const Format& f) {
  if (x == 0 || std::isnan(x) || std::isinf(x)) return x;
  const int exponent = std::max(std::ilogb(x), f.lowest);
  const double rounded =
      std::ldexp(std::nearbyint(std::ldexp(x, f.fraction - exponent)), exponent - f.fraction);
  return std::abs(rounded) > f.largest ? std::copysign(std::numeric_limits<double>::infinity(), x)
                                       : rounded;
}

template <class T>
void check_all_patterns(const Format& f) {
  for (int i = 0; i < 0x10000; ++i) {
    T x;
    x.bits = static_cast<std::uint16_t>(i);
    const auto value = static_cast<float>(x);
    const double expected = decode(x.bits, f);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << i;
      // A signalling NaN becomes quiet; sign and the rest of the payload stay.
      ASSERT_EQ(T(value).bits, x.bits | (1 << (f.fraction - 1))) << i;
    } else {
      ASSERT_EQ(static_cast<double>(value), expected) << i;
      ASSERT_EQ(std::signbit(value), i >= 0x8000) << i;
      ASSERT_EQ(T(value).bits, x.bits) << i;
    }
  }
}
TEST(Half, AllPatternsRoundTrip) { check_all_patterns<Half>(kHalf); }
TEST(BFloat16, AllPatternsRoundTrip) { check_all_patterns<BFloat16>(kBFloat16); }

template <class T>
void check_rounding(float x, const Format& f) {
  const auto got = static_cast<float>(T(x));
  const double expected = round_to(x, f);
  ASSERT_EQ(static_cast<double>(got), expected) << std::hexfloat << x;
  ASSERT_EQ(std::signbit(got), std::signbit(x)) << std::hexfloat << x;
}
template <class T>
void check_rounding(const Format& f) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2'000'000; ++i) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(x)) check_rounding<T>(x, f);
    // Within the format's range, which random bits rarely hit.
    const auto small = static_cast<float>(
        std::ldexp(static_cast<double>(random() >> 11), -53 - static_cast<int>(random() % 45)));
    check_rounding<T>(small * 131072.0f, f);
  }
  // Every tie, and what lies next to it.
  for (int i = 0; i < 0x7fff; ++i) {
    const double low = decode(static_cast<std::uint16_t>(i), f),
                 high = decode(static_cast<std::uint16_t>(i + 1), f);
    if (std::isnan(high)) break;
    // Beyond the largest number lies a tie, too: half a step above it.
    const double step =
        std::isinf(high) ? low - decode(static_cast<std::uint16_t>(i - 1), f) : high - low;
    const auto tie = static_cast<float>(low + step / 2);
    if (std::isinf(low)) break;
    for (const float x : {tie, std::nextafter(tie, 0.0f), std::nextafter(tie, INFINITY)}) {
      check_rounding<T>(x, f);
      check_rounding<T>(-x, f);
    }
  }
}
TEST(Half, RoundsToNearestEven) { check_rounding<Half>(kHalf); }
TEST(BFloat16, RoundsToNearestEven) { check_rounding<BFloat16>(kBFloat16); }

TEST(Half, TheReferenceCanFail) {
  // Negative control: truncation is not what the reference says.
  const float x = std::nextafter(2.0f, 0.0f);
  EXPECT_EQ(round_to(x, kHalf), 2.0);
  EXPECT_NE(round_to(x, kHalf), decode(0x3fff, kHalf));
}

TEST(Half, NaNsStayNaNs) {
  // A payload in the low bits only must not become an infinity.
  for (const std::uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fc00000u, 0x7f801000u}) {
    const auto x = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(static_cast<float>(Half(x))));
    EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(x))));
    EXPECT_EQ(Half(x).bits >> 15, bits >> 31);
    EXPECT_EQ(BFloat16(x).bits >> 15, bits >> 31);
  }
}

}  // namespace
}  // namespace tlaloc
