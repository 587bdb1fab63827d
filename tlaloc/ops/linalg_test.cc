#include "tlaloc/ops/linalg.h"

#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {
using namespace testing;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsNan;
using ::testing::Pointwise;

HostArray chol(const HostArray& a) { return eval(rows::Cholesky, nullptr, {a}); }
HostArray solve(const HostArray& a, const HostArray& b, TriangularAttrs t) {
  return eval(rows::TriangularSolve, ir::make_attr(t), {a, b});
}

TEST(Cholesky, FactorsAndReadsTheLowerTriangleOnly) {
  const double nan = std::nan("");
  for (DType t : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    EXPECT_THAT(values(chol(array(t, {2, 2}, {4, nan, 2, 10}))), ElementsAre(2, 0, 1, 3));
  }
  EXPECT_THAT(values(chol(array(DType::f64, {2, 1, 1}, {9, 16}))), ElementsAre(3, 4));
  EXPECT_THAT(values(chol(array(DType::f64, {0, 0}, {}))), IsEmpty());
  EXPECT_THAT(values(chol(array(DType::f64, {0, 2, 2}, {}))), IsEmpty());
}
TEST(Cholesky, NotDefiniteIsNaNInItsOwnLowerTriangle) {
  EXPECT_THAT(values(chol(array(DType::f64, {2, 2, 2}, {1, 2, 2, 1, 4, 2, 2, 10}))),
              ElementsAre(IsNan(), 0, IsNan(), IsNan(), 2, 0, 1, 3));
  EXPECT_THAT(values(chol(array(DType::f32, {1, 1}, {0}))), ElementsAre(IsNan()));
  EXPECT_THAT(values(chol(array(DType::f32, {1, 1}, {std::nan("")}))), ElementsAre(IsNan()));
}
TEST(Cholesky, InfersAndRefuses) {
  const Dim n = ir::Symbol::fresh("n"), b = ir::Symbol::fresh("b");
  EXPECT_EQ(inferred(rows::Cholesky, nullptr, {Type::get(DType::f32, {b, n, n})}), "f32[b, n, n]");
  EXPECT_EQ(inferred(rows::Cholesky, nullptr, {Type::get(DType::f32, {3, n})}),
            "f32[3, n]\nequal: rows and columns: 3, n");
  EXPECT_EQ(refusal(rows::Cholesky, nullptr, {Type::get(DType::f32, {2, 3})}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::Cholesky, nullptr, {Type::get(DType::f32, {2})}), "TL-RANK-001");
  EXPECT_EQ(refusal(rows::Cholesky, nullptr, {Type::get(DType::i32, {2, 2})}), "TL-DTYPE-004");
}

/// op(A) with the triangle, diagonal and transposition of `t`, dense [3, 3].
std::vector<double> dense(const HostArray& a, TriangularAttrs t) {
  std::vector<double> m(9);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      const bool inside = t.lower ? j < i : j > i;
      double v = inside ? a.element(i * 3 + j) : 0;
      if (i == j) v = t.unit ? 1 : a.element(i * 3 + j);
      m[static_cast<std::size_t>(t.transpose ? j * 3 + i : i * 3 + j)] = v;
    }
  }
  return m;
}

TEST(TriangularSolve, EveryVariantSolvesItsSystem) {
  const HostArray a = array(DType::f64, {3, 3}, {2, -1, 3, 1, 4, -2, -3, 1, 5});
  for (int bits = 0; bits < 16; ++bits) {
    const TriangularAttrs t{.left = (bits & 1) != 0,
                            .lower = (bits & 2) != 0,
                            .unit = (bits & 4) != 0,
                            .transpose = (bits & 8) != 0};
    const HostArray b = counting(DType::f64, t.left ? Extents{3, 2} : Extents{2, 3}, -2);
    const HostArray x = solve(a, b, t);
    const std::vector<double> m = dense(a, t);
    std::vector<double> product(6, 0);
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < 2; ++j) {
          const auto at = static_cast<std::size_t>(t.left ? i * 2 + j : j * 3 + i);
          product[at] += t.left ? m[static_cast<std::size_t>(i * 3 + k)] * x.element(k * 2 + j)
                                : x.element(j * 3 + k) * m[static_cast<std::size_t>(k * 3 + i)];
        }
      }
    }
    EXPECT_THAT(product, Pointwise(DoubleNear(1e-12), values(b))) << bits;
  }
}
TEST(TriangularSolve, BatchesSingularAndNothing) {
  EXPECT_THAT(values(solve(array(DType::f32, {2, 1, 1}, {2, 4}),
                           array(DType::f32, {2, 1, 2}, {2, 4, 4, 8}), {})),
              ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(
      values(solve(array(DType::f32, {1, 1}, {0}), array(DType::f32, {1, 3}, {1, -1, 0}), {})),
      ElementsAre(HUGE_VAL, -HUGE_VAL, IsNan()));
  EXPECT_THAT(
      values(solve(array(DType::f32, {2, 2}, {1, 0, 0, 1}), array(DType::f32, {2, 0}, {}), {})),
      IsEmpty());
  EXPECT_THAT(values(solve(array(DType::f32, {0, 0}, {}), array(DType::f32, {0, 2}, {}), {})),
              IsEmpty());
}
TEST(TriangularSolve, InfersAndRefuses) {
  const Dim n = ir::Symbol::fresh("n"), m = ir::Symbol::fresh("m");
  auto check = [](Type a, Type b, TriangularAttrs t = {}) {
    return refusal(rows::TriangularSolve, ir::make_attr(t), {a, b});
  };
  EXPECT_EQ(inferred(rows::TriangularSolve, ir::make_attr(TriangularAttrs{}),
                     {Type::get(DType::f32, {n, n}), Type::get(DType::f32, {n, m})}),
            "f32[n, m]");
  const Type a = Type::get(DType::f32, {2, 2});
  EXPECT_EQ(check(a, Type::get(DType::f32, {3, 2})), "TL-SHAPE-001");
  EXPECT_EQ(check(a, Type::get(DType::f32, {3, 2}), {.left = false}), "");
  EXPECT_EQ(check(a, Type::get(DType::f32, {2})), "TL-RANK-001");
  EXPECT_EQ(check(a, Type::get(DType::f64, {2, 2})), "TL-DTYPE-001");
  EXPECT_EQ(check(Type::get(DType::i32, {2, 2}), Type::get(DType::i32, {2, 2})), "TL-DTYPE-004");
}

}  // namespace
}  // namespace tlaloc::ops
