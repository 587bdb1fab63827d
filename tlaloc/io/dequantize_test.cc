#include "tlaloc/io/dequantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "tlaloc/base/error.h"

namespace tlaloc::io {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::byte> encoded(Storage storage, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() / usize(block_elements(storage)) *
                               usize(block_bytes(storage)));
  quantize(storage, values, bytes, "x");
  return bytes;
}
std::vector<float> decoded(Storage storage, const std::vector<std::byte>& bytes) {
  std::vector<float> values(bytes.size() / usize(block_bytes(storage)) *
                            usize(block_elements(storage)));
  dequantize(storage, bytes, values, "x");
  return values;
}
template <class F>
std::string error(F f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

// tests/io compares bits with the gguf package; here is what follows from the formats.
TEST(Dequantize, IsNearWhatWasEncoded) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(3200);
  for (float& v : x) v = normal(random);
  for (const auto& [storage, steps] :
       {std::pair(Storage::q8_0, 127.0f), std::pair(Storage::q4_0, 8.0f),
        std::pair(Storage::f16, 2048.0f), std::pair(Storage::bf16, 256.0f)}) {
    const std::vector<float> y = decoded(storage, encoded(storage, x));
    for (std::size_t i = 0; i < x.size(); ++i) {
      float largest = 0;
      for (std::size_t j = 0; j < 32; ++j) {
        largest = std::max(largest, std::abs(x[i / 32 * 32 + j]));
      }
      // A step where the far end of Q4_0 is cut off, half of one elsewhere; f16 rounds the scale.
      ASSERT_NEAR(y[i], x[i], largest / steps * 1.01f) << name(storage) << " " << i;
    }
  }
}

TEST(Dequantize, NothingIsNothing) {
  for (Storage storage : {Storage::f32, Storage::f16, Storage::bf16, Storage::q8_0}) {
    dequantize(storage, {}, {}, "x");  // no memory, which memcpy must not be given
    EXPECT_TRUE(decoded(storage, {}).empty());
  }
}

TEST(Dequantize, TensorsOfF32AreNotCopied) {
  const std::vector<float> x = {1, 2, 3, 4};
  Tensor t{{"t", Storage::f32, {2, 2}}, std::as_bytes(std::span(x)), nullptr};
  EXPECT_EQ(to_f32(t).data(), x.data());
  const std::vector<std::byte> half = encoded(Storage::f16, x);
  t = {{"t", Storage::f16, {2, 2}}, half, nullptr};
  EXPECT_EQ(to_string(to_f32(t)), "f32[2, 2] {1, 2, 3, 4}");
}

TEST(Dequantize, RefusesByName) {
  for (int s = 0; s <= static_cast<int>(Storage::q1_0); ++s) {
    const auto storage = static_cast<Storage>(s);
    if (!can_dequantize(storage)) {
      EXPECT_THAT(error([&] { decoded(storage, {}); }),
                  StartsWith("TL-QUANT-002: dequantize: x is stored as " +
                             std::string(name(storage)) + ", which has no decoder"));
      const Tensor t{{"t", storage, {0}}, {}, {}, std::make_shared<std::string>("a.gguf")};
      EXPECT_THAT(error([&] { to_f32(t); }), HasSubstr("dequantize: a.gguf: 't' is stored as"));
    }
    if (!can_quantize(storage)) {
      EXPECT_THAT(error([&] { encoded(storage, {}); }),
                  StartsWith("TL-QUANT-002: quantize: x is to be stored as " +
                             std::string(name(storage)) + ", which has no encoder"));
    }
    EXPECT_EQ(parse_storage(name(storage)), storage);
  }
  EXPECT_EQ(parse_storage("Q9_9"), std::nullopt);
}

TEST(Dequantize, RefusesValuesWithoutANumber) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {kInfinity, -kInfinity, kNan, 1e38f}) {
    for (const Storage storage : {Storage::q4_0, Storage::q8_0}) {
      std::vector<float> x(64, 1.0f);
      x[40] = bad;
      EXPECT_THAT(error([&] { encoded(storage, x); }),
                  StartsWith("TL-QUANT-003: quantize: x: " + std::string(name(storage)) +
                             " has no number for element 40, "));
    }
  }
  EXPECT_THAT(error([&] { encoded(Storage::f16, {65520}); }),
              HasSubstr("F16 has no number for element 0, 65520"));
  EXPECT_THAT(error([&] { encoded(Storage::bf16, {std::numeric_limits<float>::max()}); }),
              HasSubstr("BF16 has no number for element 0, 3.4"));
  // These have their own.
  EXPECT_EQ(decoded(Storage::f16, encoded(Storage::f16, {-kInfinity}))[0], -kInfinity);
  EXPECT_TRUE(std::isnan(decoded(Storage::bf16, encoded(Storage::bf16, {kNan}))[0]));
}

TEST(Dequantize, BlocksTooSmallForTheirScaleAreZero) {
  for (const Storage storage : {Storage::q4_0, Storage::q8_0}) {
    std::vector<float> x(32, std::numeric_limits<float>::denorm_min());
    x[3] = 1e-40f;
    const std::vector<std::byte> bytes = encoded(storage, x);
    for (std::size_t i = 2; i < bytes.size(); ++i) {
      EXPECT_EQ(bytes[i], storage == Storage::q4_0 ? std::byte{0x88} : std::byte{0});
    }
    for (const float y : decoded(storage, bytes)) EXPECT_EQ(y, 0);
  }
}

}  // namespace
}  // namespace tlaloc::io
