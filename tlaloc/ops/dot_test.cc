#include "tlaloc/ops/dot.h"

#include <random>

#include "tlaloc/ops/strided.h"
#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {
using namespace testing;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

HostArray dot(const HostArray& a, const HostArray& b, DotDims dims) {
  return eval(rows::DotGeneral, ir::make_attr(std::move(dims)), {a, b});
}
const DotDims kMatrices{.lhs_contract = {1}, .rhs_contract = {0}};

TEST(DotGeneral, Matrices) {
  const HostArray a = counting(DType::f32, {2, 3}), b = counting(DType::f32, {3, 2});
  EXPECT_EQ(to_string(dot(a, b, kMatrices)), "f32[2, 2] {10, 13, 28, 40}");
  EXPECT_EQ(to_string(dot(a, a, {.lhs_contract = {0, 1}, .rhs_contract = {0, 1}})), "f32[] {55}");
  EXPECT_EQ(to_string(dot(counting(DType::i32, {2}, 1), counting(DType::i32, {2}, 3), {})),
            "i32[2, 2] {3, 4, 6, 8}");
}

TEST(DotGeneral, HugeAxesWithoutElementsCostNothing) {
  const std::int64_t huge = 1ll << 40;
  const HostArray rows(DType::f32, {huge, 0}), none(DType::f32, {0, 0});
  EXPECT_EQ(dot(rows, none, kMatrices).extents(), (Extents{huge, 0}));
  // The number of rows does not fit 64 bits.
  const HostArray deep(DType::f32, {huge, huge, 0});
  EXPECT_EQ(dot(deep, none, {.lhs_contract = {2}, .rhs_contract = {0}}).extents(),
            (Extents{huge, huge, 0}));
}

/// Every result element from its definition.
TEST(DotGeneral, AgreesWithTheDefinition) {
  // lhs [k1, b, i, k0], rhs [j, k0, b, k1], with axes in unlike orders.
  const HostArray a = counting(DType::f64, {3, 2, 4, 5}, -7);
  const HostArray b = counting(DType::f64, {6, 5, 2, 3}, -11);
  const HostArray y = dot(
      a, b, {.lhs_batch = {1}, .rhs_batch = {2}, .lhs_contract = {3, 0}, .rhs_contract = {1, 3}});
  ASSERT_EQ(y.extents(), (Extents{2, 4, 6}));
  for (std::int64_t g = 0; g < 2; ++g) {
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 6; ++j) {
        double sum = 0;
        for (std::int64_t p = 0; p < 5; ++p) {
          for (std::int64_t q = 0; q < 3; ++q) {
            sum +=
                a.element(((q * 2 + g) * 4 + i) * 5 + p) * b.element(((j * 5 + p) * 2 + g) * 3 + q);
          }
        }
        EXPECT_EQ(y.element((g * 4 + i) * 6 + j), sum);
      }
    }
  }
}

TEST(DotGeneral, HalfTypesRoundOnce) {
  // 256 + 1 + 1 in bf16 steps would stay at 256; the exact sum 258 is representable.
  const HostArray ones = array(DType::bf16, {3}, {1, 1, 1});
  const DotDims inner{.lhs_contract = {0}, .rhs_contract = {0}};
  EXPECT_THAT(values(dot(array(DType::bf16, {3}, {256, 1, 1}), ones, inner)), ElementsAre(258));
  EXPECT_THAT(
      values(dot(array(DType::f16, {3}, {2048, 1, 1}), array(DType::f16, {3}, {1, 1, 1}), inner)),
      ElementsAre(2050));
}

TEST(DotGeneral, IntegersWrapAndEveryNumberWorks) {
  const DotDims inner{.lhs_contract = {0}, .rhs_contract = {0}};
  EXPECT_THAT(values(dot(array(DType::i8, {1}, {100}), array(DType::i8, {1}, {3}), inner)),
              ElementsAre(44));
  for (DType t : all_dtypes()) {
    if (t == DType::boolean) continue;
    EXPECT_THAT(values(dot(array(t, {2}, {1, 2}), array(t, {2}, {3, 4}), inner)), ElementsAre(11));
  }
}

TEST(DotGeneral, EmptySumsAreZeroAndNaNSpreads) {
  EXPECT_THAT(values(dot(array(DType::f32, {2, 0}, {}), array(DType::f32, {0, 2}, {}), kMatrices)),
              Each(0));
  EXPECT_THAT(values(dot(array(DType::f32, {0, 2}, {}),
                         array(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}), kMatrices)),
              IsEmpty());
  const double nan = std::nan(""), inf = HUGE_VAL;
  EXPECT_TRUE(std::isnan(
      dot(array(DType::f32, {1, 2}, {0, 1}), array(DType::f32, {2, 1}, {inf, 1}), kMatrices)
          .element(0)));
  EXPECT_TRUE(std::isnan(
      dot(array(DType::f32, {1, 1}, {nan}), array(DType::f32, {1, 1}, {0}), kMatrices).element(0)));
}

TEST(DotGeneral, InfersSymbolicSizes) {
  const Dim n = ir::Symbol::fresh("n"), m = ir::Symbol::fresh("m"), k = ir::Symbol::fresh("k");
  EXPECT_EQ(inferred(rows::DotGeneral, ir::make_attr(kMatrices),
                     {Type::get(DType::f32, {n, k}), Type::get(DType::f32, {k, m})}),
            "f32[n, m]");
  EXPECT_EQ(inferred(rows::DotGeneral, ir::make_attr(kMatrices),
                     {Type::get(DType::f32, {n, 3}), Type::get(DType::f32, {k, m})}),
            "f32[n, m]\nequal: contracted axes 1 and 0: 3, k");
}

TEST(DotGeneral, Refusals) {
  const Type a = Type::get(DType::f32, {2, 3});
  auto code = [&](Type b, DotDims d) {
    return refusal(rows::DotGeneral, ir::make_attr(std::move(d)), {a, b});
  };
  EXPECT_EQ(code(a, kMatrices), "TL-SHAPE-001");
  EXPECT_EQ(code(a, {.lhs_contract = {2}, .rhs_contract = {0}}), "TL-AXIS-001");
  EXPECT_EQ(code(a, {.lhs_contract = {0}}), "TL-AXIS-001");
  EXPECT_EQ(code(a, {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {0}, .rhs_contract = {0}}),
            "TL-AXIS-001");
  EXPECT_EQ(code(a.with_dtype(DType::f64), kMatrices), "TL-DTYPE-001");
  const Type p = Type::get(DType::boolean, {2});
  EXPECT_EQ(refusal(rows::DotGeneral, ir::make_attr(DotDims{}), {p, p}), "TL-DTYPE-004");
}

}  // namespace
}  // namespace tlaloc::ops
