#include "tlaloc/cpu/gemm.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/gang.h"

namespace tlaloc::cpu {
namespace {

using Size = std::int64_t;

/// Runs a test on each of Highway's targets that this CPU has. The argument: whether that target
/// rounds a multiply-add once.
template <class F>
void on_each_target(const F& f) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    f(target <= HWY_AVX2);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

enum class Layout { rows, columns, wide_rows, both_apart, reversed, stretched };
constexpr Layout kLayouts[] = {Layout::rows,       Layout::columns,  Layout::wide_rows,
                               Layout::both_apart, Layout::reversed, Layout::stretched};

/// A matrix with memory around its elements.
template <class T>
struct Array {
  Array(Size m, Size n, Layout layout) : m(m), n(n) {
    switch (layout) {
      case Layout::rows:
        row = n, column = 1;
        break;
      case Layout::columns:
        row = 1, column = m;
        break;
      case Layout::wide_rows:
        row = n + 3, column = 1;
        break;
      case Layout::both_apart:
        row = 2 * n + 5, column = 2;
        break;
      case Layout::reversed:
        row = -n, column = 1, first = n * std::max<Size>(m - 1, 0);
        break;
      case Layout::stretched:
        row = 0, column = 1;
        break;
    }
    memory.resize(usize(m * (2 * n + 5) + 2 * n + 1));
  }
  void fill(std::mt19937_64& random) {
    std::uniform_real_distribution<float> values(-2, 2);
    for (T& x : memory) {
      if constexpr (std::is_integral_v<T>) {
        x = static_cast<T>(random());
      } else {
        x = static_cast<T>(values(random));
      }
    }
  }
  T& at(Size i, Size j) { return memory[usize(first + i * row + j * column)]; }
  const T& at(Size i, Size j) const { return memory[usize(first + i * row + j * column)]; }
  Matrix matrix() { return {memory.data() + first, row, column}; }

  Size m, n, row = 0, column = 0, first = 0;
  std::vector<T> memory;
};

std::byte* scratch(DType dtype) {
  static std::vector<std::byte> memory;
  memory.resize(gemm_scratch_bytes(dtype) + 64);
  auto at = reinterpret_cast<std::uintptr_t>(memory.data());
  return memory.data() + (64 - at % 64) % 64;
}

template <class T>
void multiply(Array<T>& a, Array<T>& b, Array<T>& c, bool accumulate = false) {
  gemm({dtype_of<T>, c.m, c.n, a.n, a.matrix(), b.matrix(), c.matrix(), accumulate},
       scratch(dtype_of<T>));
}

/// An element as gemm.h states it; `c`: of C, if the product is added to it.
template <class T>
T stated(const Array<T>& a, const Array<T>& b, Size i, Size j, const T* c, bool once) {
  using C = ComputeType<T>;
  C sum = c ? static_cast<C>(*c) : C(0);
  for (Size k = 0; k < a.n; k += kGemmDepth) {
    C part = 0;
    for (Size q = k; q < std::min(a.n, k + kGemmDepth); ++q) {
      const C x = static_cast<C>(a.at(i, q)), y = static_cast<C>(b.at(q, j));
      if constexpr (std::is_integral_v<C>) {
        part = static_cast<C>(std::uint64_t(part) + std::uint64_t(x) * std::uint64_t(y));
      } else {
        part = once ? std::fma(x, y, part) : x * y + part;
      }
    }
    if constexpr (std::is_integral_v<C>) {
      sum = static_cast<C>(std::uint64_t(sum) + std::uint64_t(part));
    } else {
      sum = k == 0 && !c ? part : sum + part;
    }
  }
  return static_cast<T>(sum);
}

/// One product, and all memory of C: the elements as stated, the rest untouched.
template <class T>
void expect_stated(Size m, Size n, Size k, const Layout (&layouts)[3], bool accumulate, bool once,
                   std::mt19937_64& random) {
  SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
               ", layouts " + std::to_string(int(layouts[0])) + std::to_string(int(layouts[1])) +
               std::to_string(int(layouts[2])) + (accumulate ? ", added" : ""));
  Array<T> a(m, k, layouts[0]), b(k, n, layouts[1]), c(m, n, layouts[2]);
  a.fill(random);
  b.fill(random);
  c.fill(random);
  Array<T> expected = c;
  for (Size i = 0; i < m; ++i) {
    for (Size j = 0; j < n; ++j) {
      expected.at(i, j) = stated(a, b, i, j, accumulate ? &c.at(i, j) : nullptr, once);
    }
  }
  multiply(a, b, c, accumulate);
  for (std::size_t i = 0; i < c.memory.size(); ++i) {
    ASSERT_EQ(std::memcmp(&c.memory[i], &expected.memory[i], sizeof(T)), 0)
        << "element " << i << " of C's memory";
  }
}

template <class T>
class GemmOf : public ::testing::Test {};
using Floats = ::testing::Types<float, double, Half, BFloat16>;
TYPED_TEST_SUITE(GemmOf, Floats);

TYPED_TEST(GemmOf, HasTheStatedBitsForAnyShapeAndLayout) {
  on_each_target([](bool once) {
    std::mt19937_64 random(1);
    const Size sizes[] = {1,  2,  3,  4,  5,  7,  8,  9,   12,  13,
                          16, 17, 31, 33, 64, 67, 98, 130, 194, 300};
    const Size depths[] = {1, 2, 3, 5, 8, 17, 64, 255, 511, 512, 513, 1100};
    auto any = [&](const auto& list) { return list[random() % std::size(list)]; };
    for (int trial = 0; trial < 80; ++trial) {
      Layout layouts[3] = {any(kLayouts), any(kLayouts), any(kLayouts)};
      if (layouts[2] == Layout::stretched) layouts[2] = Layout::rows;  // one place for several
      expect_stated<TypeParam>(any(sizes), any(sizes), any(depths), layouts, random() % 4 == 0,
                               once, random);
      if (::testing::Test::HasFatalFailure()) return;
    }
  });
}

TYPED_TEST(GemmOf, HasTheStatedBitsBeyondOneBlock) {
  on_each_target([](bool once) {
    std::mt19937_64 random(2);
    const Layout rows[3] = {Layout::rows, Layout::rows, Layout::rows};
    const Layout mixed[3] = {Layout::columns, Layout::columns, Layout::both_apart};
    expect_stated<TypeParam>(450, 70, 600, rows, false, once, random);
    expect_stated<TypeParam>(450, 40, 1050, mixed, true, once, random);
    // Few rows: B along its columns and along its rows; a vector of columns, and a part of one.
    const Layout columns[3] = {Layout::rows, Layout::columns, Layout::wide_rows};
    for (Size m : {1, 7, 8}) {
      expect_stated<TypeParam>(m, 303, 1050, columns, m == 7, once, random);
      expect_stated<TypeParam>(m, 303, 1050, rows, m == 7, once, random);
    }
    expect_stated<TypeParam>(3, 4200, 600, rows, false, once, random);
    expect_stated<TypeParam>(70, 4200, 20, mixed, false, once, random);
  });
}

TYPED_TEST(GemmOf, NoSumsAreZerosOrNothing) {
  Array<TypeParam> a(3, 0, Layout::rows), b(0, 4, Layout::rows), c(3, 4, Layout::both_apart);
  std::mt19937_64 random(3);
  c.fill(random);
  const Array<TypeParam> before = c;
  multiply(a, b, c, true);
  EXPECT_EQ(std::memcmp(c.memory.data(), before.memory.data(), c.memory.size() * sizeof(TypeParam)),
            0);
  multiply(a, b, c);
  for (Size i = 0; i < 3; ++i) {
    for (Size j = 0; j < 4; ++j) EXPECT_EQ(static_cast<ComputeType<TypeParam>>(c.at(i, j)), 0);
  }
  Array<TypeParam> none(0, 4, Layout::rows);
  multiply(b, b, none);
}

TYPED_TEST(GemmOf, NaNAndInfinitySpread) {
  on_each_target([](bool) {
    for (const double special : {std::nan(""), HUGE_VAL}) {
      Array<TypeParam> a(14, 40, Layout::rows), b(40, 35, Layout::rows), c(14, 35, Layout::rows);
      std::mt19937_64 random(4);
      a.fill(random);
      b.fill(random);
      b.at(7, 34) = TypeParam(0.0f);  // 0 times infinity
      a.at(13, 7) = static_cast<TypeParam>(static_cast<float>(special));
      multiply(a, b, c);
      for (Size i = 0; i < 14; ++i) {
        for (Size j = 0; j < 35; ++j) {
          const auto y = static_cast<ComputeType<TypeParam>>(c.at(i, j));
          if (i != 13) {
            EXPECT_TRUE(std::isfinite(y));
          } else {
            EXPECT_TRUE(j == 34 || std::isnan(special) ? std::isnan(y) : std::isinf(y));
          }
        }
      }
    }
  });
}

/// The same product on the calling thread and by the gang, and all memory of C.
template <class T>
void expect_same_when_shared(Size m, Size n, Size k, const Layout (&layouts)[3], bool accumulate,
                             bool packed = false) {
  SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) +
               ", layouts " + std::to_string(int(layouts[0])) + std::to_string(int(layouts[1])) +
               std::to_string(int(layouts[2])) + (packed ? ", packed" : ""));
  ASSERT_GT(gemm_nanoseconds(dtype_of<T>, double(m), double(n), double(k)), alone_nanoseconds());
  std::mt19937_64 random(8);
  Array<T> a(m, k, layouts[0]), b(k, n, layouts[1]), c(m, n, layouts[2]);
  a.fill(random);
  b.fill(random);
  c.fill(random);
  Array<T> shared = c;
  Gemm g{dtype_of<T>, m, n, k, a.matrix(), b.matrix(), c.matrix(), accumulate};
  std::vector<std::byte> memory;
  if (packed) {
    memory.resize(packed_bytes(*packing_of(dtype_of<T>), k, n) + 64);
    auto* place = reinterpret_cast<std::byte*>(
        (reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
    pack_right(*packing_of(dtype_of<T>), k, n, b.matrix().data, b.row, b.column, place);
    g.b = {};
    g.packed_b = {*packing_of(dtype_of<T>), place};
  }
  gemm(g, scratch(dtype_of<T>));
  g.c = shared.matrix();
  g.shared = true;
  gemm(g, scratch(dtype_of<T>));
  EXPECT_TRUE(std::memcmp(c.memory.data(), shared.memory.data(), c.memory.size() * sizeof(T)) == 0);
}

TYPED_TEST(GemmOf, SharedProductsHaveTheSameBits) {
  const std::int64_t before = num_threads();
  const Layout rows[3] = {Layout::rows, Layout::rows, Layout::rows};
  const Layout columns[3] = {Layout::columns, Layout::columns, Layout::columns};
  const Layout mixed[3] = {Layout::wide_rows, Layout::columns, Layout::both_apart};
  set_num_threads(3);
  for (const auto* layouts : {&rows, &columns, &mixed}) {
    expect_same_when_shared<TypeParam>(300, 290, 520, *layouts, false);
    expect_same_when_shared<TypeParam>(200, 210, 530, *layouts, true);
    expect_same_when_shared<TypeParam>(70, 1100, 100, *layouts, true);
    expect_same_when_shared<TypeParam>(1000, 33, 600, *layouts, false);
    expect_same_when_shared<TypeParam>(40, 1300, 300, *layouts, false);
    expect_same_when_shared<TypeParam>(3, 4100, 520, *layouts, true);
    expect_same_when_shared<TypeParam>(1, 4099, 520, *layouts, false);
  }
  set_num_threads(2);
  on_each_target([&](bool) { expect_same_when_shared<TypeParam>(150, 160, 520, rows, false); });
  set_num_threads(before);
}

template <class T>
class GemmPacked : public ::testing::Test {};
using Packable = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GemmPacked, Packable);

/// Rows alone, in parts, all at once, in a transposed result, with B packed before: the same bits.
TYPED_TEST(GemmPacked, BitsDependOnNothingElse) {
  using T = TypeParam;
  on_each_target([](bool) {
    const Size n = 75, k = 1030;
    std::mt19937_64 random(5);
    Array<T> a(512, k, Layout::rows), b(k, n, Layout::columns), c(512, n, Layout::rows);
    a.fill(random);
    b.fill(random);
    multiply(a, b, c);
    std::vector<std::byte> memory(packed_bytes(*packing_of(dtype_of<T>), k, n) + 64);
    auto* packed = reinterpret_cast<std::byte*>(
        (reinterpret_cast<std::uintptr_t>(memory.data()) + 63) / 64 * 64);
    pack_right(*packing_of(dtype_of<T>), k, n, b.matrix().data, b.row, b.column, packed);
    for (Size m : {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16, 64, 200, 512}) {
      for (Layout layout : {Layout::rows, Layout::columns, Layout::both_apart}) {
        for (bool before : {false, true}) {
          SCOPED_TRACE(std::to_string(m) + " rows, layout " + std::to_string(int(layout)) +
                       (before ? ", packed" : ""));
          Array<T> part(m, n, layout);
          Gemm g{dtype_of<T>, m, n, k, a.matrix(), b.matrix(), part.matrix()};
          if (before) {
            g.b = {};
            g.packed_b = {*packing_of(dtype_of<T>), packed};
          }
          gemm(g, scratch(dtype_of<T>));
          for (Size i = 0; i < m; ++i) {
            for (Size j = 0; j < n; ++j) {
              ASSERT_EQ(std::memcmp(&part.at(i, j), &c.at(i, j), sizeof(T)), 0) << i << ", " << j;
            }
          }
        }
      }
    }
    Array<T> part(512, n, Layout::rows);
    for (Size j = 0, columns = 1; j < n;
         j += columns, columns = std::min<Size>(3 * columns, n - j)) {
      Matrix right = b.matrix(), to = part.matrix();
      right.data = &b.at(0, j);
      to.data = &part.at(0, j);
      gemm({dtype_of<T>, 512, columns, k, a.matrix(), right, to}, scratch(dtype_of<T>));
    }
    EXPECT_EQ(part.memory, c.memory);
  });
}

TYPED_TEST(GemmPacked, SharedProductsWithBPackedBeforeHaveTheSameBits) {
  const std::int64_t before = num_threads();
  set_num_threads(3);
  const Layout rows[3] = {Layout::rows, Layout::rows, Layout::rows};
  expect_same_when_shared<TypeParam>(300, 290, 1030, rows, false, true);
  expect_same_when_shared<TypeParam>(20, 1300, 600, rows, true, true);
  expect_same_when_shared<TypeParam>(2, 4100, 520, rows, false, true);
  set_num_threads(before);
}

/// An oracle that is not ours: sums in long double, with the bound of any order of summation.
TYPED_TEST(GemmPacked, IsNearTheSumsInHigherPrecision) {
  using T = TypeParam;
  on_each_target([](bool) {
    std::mt19937_64 random(6);
    const Size m = 37, n = 53, k = 1000;
    Array<T> a(m, k, Layout::columns), b(k, n, Layout::wide_rows), c(m, n, Layout::rows);
    a.fill(random);
    b.fill(random);
    multiply(a, b, c);
    for (Size i = 0; i < m; ++i) {
      for (Size j = 0; j < n; ++j) {
        long double sum = 0, size = 0;
        for (Size q = 0; q < k; ++q) {
          const long double term = static_cast<long double>(a.at(i, q)) * b.at(q, j);
          sum += term;
          size += std::abs(term);
        }
        const long double steps = kGemmDepth + k / kGemmDepth + 1;
        EXPECT_LE(std::abs(sum - c.at(i, j)), size * steps * std::numeric_limits<T>::epsilon() / 2);
      }
    }
  });
}

template <class T>
class GemmOfIntegers : public ::testing::Test {};
using Integers = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                  std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(GemmOfIntegers, Integers);

TYPED_TEST(GemmOfIntegers, IsExactAndWraps) {
  std::mt19937_64 random(7);
  for (bool accumulate : {false, true}) {
    expect_stated<TypeParam>(5, 300, 33, {Layout::rows, Layout::rows, Layout::rows}, accumulate,
                             false, random);
    expect_stated<TypeParam>(9, 7, 270, {Layout::columns, Layout::reversed, Layout::both_apart},
                             accumulate, false, random);
    expect_same_when_shared<TypeParam>(
        50, 40, 80, {Layout::columns, Layout::reversed, Layout::both_apart}, accumulate);
  }
}

}  // namespace
}  // namespace tlaloc::cpu
