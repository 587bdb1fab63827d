#include "tlaloc/base/host_array.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::string code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.code();
  }
  return "";
}

HostArray counting(Extents extents) {
  HostArray a(DType::f32, std::move(extents));
  float next = 1;
  for (float& x : a.as_mutable<float>()) x = next++;
  return a;
}

TEST(HostArray, IsZeroFilledAndKnowsItsSize) {
  const HostArray a(DType::i16, {2, 3});
  EXPECT_EQ(a.rank(), 2);
  EXPECT_EQ(a.size(), 6);
  EXPECT_EQ(a.bytes(), 12u);
  for (std::int16_t x : a.as<std::int16_t>()) EXPECT_EQ(x, 0);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
  EXPECT_TRUE(HostArray().empty_handle());
  EXPECT_FALSE(HostArray(DType::f32, {0, 4}).empty_handle());
  EXPECT_EQ(HostArray(DType::f32, {}).size(), 1);
}

TEST(HostArray, ReadersNeverSeeAnotherHandlesWrites) {
  HostArray a = counting({4});
  const HostArray b = a;
  EXPECT_EQ(a.data(), b.data());
  EXPECT_FALSE(a.unique());
  a.as_mutable<float>()[0] = 9;
  EXPECT_EQ(b.as<float>()[0], 1);
  EXPECT_EQ(a.as<float>()[0], 9);
  EXPECT_EQ(a.as<float>()[3], 4);
  EXPECT_TRUE(a.unique());
  const void* before = a.data();
  a.as_mutable<float>()[0] = 8;
  EXPECT_EQ(a.data(), before) << "a sole owner writes in place";
}

TEST(HostArray, AMovedFromHandleIsEmpty) {
  HostArray a = counting({4});
  const HostArray b = std::move(a);
  EXPECT_TRUE(a.empty_handle());  // NOLINT: that is the point
  EXPECT_EQ(a.size(), 0);
  EXPECT_EQ(a.rank(), 0);
  EXPECT_TRUE(b.unique());
  HostArray c = counting({2});
  HostArray& same = c;
  c = std::move(same);
  EXPECT_EQ(c.size(), 2) << "self-move keeps the value";
  c = counting({3});
  EXPECT_EQ(c.size(), 3);
}

TEST(HostArray, ForeignMemoryIsReadOnlyAndKeptAlive) {
  auto memory = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  std::weak_ptr<std::vector<float>> watch = memory;
  HostArray a = HostArray::external(DType::f32, {3}, memory->data(), memory);
  const float* original = memory->data();
  memory.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(a.data(), original);
  EXPECT_FALSE(a.unique());
  a.as_mutable<float>()[0] = 7;
  EXPECT_NE(a.data(), original);
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(a.as<float>()[2], 3);
}

TEST(HostArray, SizesAreChecked) {
  EXPECT_EQ(code_of([] { HostArray(DType::f32, {-1}); }), "TL-SIZE-001");
  EXPECT_EQ(code_of([] { HostArray(DType::u8, {kMax, 2}); }), "TL-SIZE-001");
  EXPECT_EQ(code_of([] { HostArray(DType::f64, {kMax / 4}); }), "TL-SIZE-001");
  EXPECT_EQ(HostArray(DType::f32, {kMax, 0, kMax}).size(), 0);
  EXPECT_EQ(code_of([] { HostArray(DType::f32, {0, -1}); }), "TL-SIZE-001");
  EXPECT_EQ(element_count(Extents{}), 1);
  EXPECT_EQ(checked_bytes(DType::c128, Extents{2}), 32u);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TLALOC_SANITIZED 1
#endif
#endif
TEST(HostArray, AFailedAllocationIsAnError) {
#ifdef TLALOC_SANITIZED
  GTEST_SKIP() << "a sanitizer ends the program when an allocation is too large";
#endif
  EXPECT_EQ(code_of([] { HostArray(DType::u8, {kMax}); }), "TL-MEM-001");
}

TEST(HostArray, ValuesMustFillTheShape) {
  const std::vector<float> three{1, 2, 3};
  EXPECT_EQ(code_of([&] { HostArray::from<float>(three, {2, 2}); }), "TL-SHAPE-002");
  EXPECT_EQ(HostArray::from<float>(three, {3, 1}).as<float>()[2], 3);
  EXPECT_EQ(HostArray::from<float>(std::span<const float>(), {0}).size(), 0);
}

TEST(HostArray, TheElementTypeIsChecked) {
  const HostArray a = counting({2});
  EXPECT_EQ(code_of([&] { a.as<double>(); }), "TL-DTYPE-001");
  EXPECT_EQ(code_of([&] { HostArray(a).as_mutable<int>(); }), "TL-DTYPE-001");
}

TEST(HostArray, ReshapedSharesItsElements) {
  const HostArray a = counting({2, 3}), b = a.reshaped({3, 2});
  EXPECT_EQ(a.data(), b.data());
  EXPECT_EQ(b.extents(), (Extents{3, 2}));
  EXPECT_EQ(code_of([&] { a.reshaped({5}); }), "TL-INTERNAL-001");
}

TEST(HostArray, ElementsAsNumbers) {
  EXPECT_EQ(HostArray::scalar(true).element(0), 1);
  EXPECT_EQ(HostArray::scalar(Half(1.5f)).element(0), 1.5);
  EXPECT_EQ(HostArray::scalar(BFloat16(-2.0f)).element_int(0), -2);
  EXPECT_EQ(HostArray::scalar(kMax).element_int(0), kMax);
  EXPECT_EQ(HostArray::scalar(2.9).element_int(0), 2);
  EXPECT_EQ(HostArray::scalar(-2.9).element_int(0), -2);
  EXPECT_EQ(HostArray::scalar(1e300).element_int(0), kMax);
  EXPECT_EQ(HostArray::scalar(-1e300).element_int(0), -kMax - 1);
  EXPECT_EQ(HostArray::scalar(0x1p63).element_int(0), kMax);
  EXPECT_EQ(HostArray::scalar(-0x1p63).element_int(0), -kMax - 1);
  EXPECT_EQ(HostArray::scalar(std::nan("")).element_int(0), 0);
  EXPECT_EQ(HostArray::scalar(INFINITY).element_int(0), kMax);
}

TEST(HostArray, IdenticalMeansBits) {
  EXPECT_TRUE(identical(counting({2}), counting({2})));
  EXPECT_FALSE(identical(counting({2}), counting({2, 1})));
  EXPECT_FALSE(identical(HostArray::scalar(0.0), HostArray::scalar(-0.0)));
  EXPECT_TRUE(identical(HostArray::scalar(std::nanf("1")), HostArray::scalar(std::nanf("1"))));
  EXPECT_FALSE(identical(HostArray::scalar(std::nanf("1")), HostArray::scalar(std::nanf("2"))));
  EXPECT_FALSE(identical(HostArray(DType::i32, {2}), HostArray(DType::f32, {2})));
  EXPECT_TRUE(identical(HostArray(), HostArray()));
}

TEST(HostArray, ReadsWell) {
  EXPECT_EQ(to_string(counting({2, 2})), "f32[2, 2] {1, 2, 3, 4}");
  EXPECT_EQ(to_string(HostArray::scalar(true)), "bool[] {true}");
  EXPECT_EQ(to_string(HostArray::scalar(std::int8_t{-7})), "i8[] {-7}");
  EXPECT_EQ(to_string(HostArray::scalar(Half(0.1f))), "f16[] {0.099975586}");
  EXPECT_EQ(to_string(HostArray::scalar(0.1)), "f64[] {0.1}");
  EXPECT_EQ(to_string(HostArray(DType::u8, {0})), "u8[0] {}");
}

}  // namespace
}  // namespace tlaloc
