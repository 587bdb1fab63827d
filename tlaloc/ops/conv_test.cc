#include "tlaloc/ops/conv.h"

#include "tlaloc/ops/dim_quotient.h"
#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {
using namespace testing;
using ::testing::Each;
using ::testing::ElementsAre;

HostArray conv(const HostArray& lhs, const HostArray& rhs, const ConvAttrs& a) {
  return eval(rows::Convolution, ir::make_attr(a), {lhs, rhs});
}
std::vector<double> line(std::vector<double> x, std::vector<double> k, const ConvAttrs& a) {
  const auto n = static_cast<std::int64_t>(x.size()), m = static_cast<std::int64_t>(k.size());
  return values(conv(array(DType::f32, {1, 1, n}, x), array(DType::f32, {1, 1, m}, k), a));
}

TEST(Convolution, OneSpatialAxis) {
  ConvAttrs a = plain_convolution(1);
  EXPECT_THAT(line({1, 2, 3, 4}, {1, 10}, a), ElementsAre(21, 32, 43));
  a.reversed = {true};
  EXPECT_THAT(line({1, 2, 3, 4}, {1, 10}, a), ElementsAre(12, 23, 34));
  a = plain_convolution(1), a.strides = {2};
  EXPECT_THAT(line({1, 2, 3, 4}, {1, 10}, a), ElementsAre(21, 43));
  a = plain_convolution(1), a.low = {1}, a.high = {2};
  EXPECT_THAT(line({1, 2}, {1, 10}, a), ElementsAre(10, 21, 2, 0));
  a.low = {-1}, a.high = {0};
  EXPECT_THAT(line({1, 2, 3}, {1, 10}, a), ElementsAre(32));
  a = plain_convolution(1), a.rhs_dilation = {2};
  EXPECT_THAT(line({1, 2, 3, 4}, {1, 10}, a), ElementsAre(31, 42));
  a = plain_convolution(1), a.lhs_dilation = {2};
  EXPECT_THAT(line({1, 2, 3}, {1, 10}, a), ElementsAre(1, 20, 2, 30));
  EXPECT_THAT(line({1}, {1, 10}, plain_convolution(1)), ::testing::IsEmpty());
}

TEST(Convolution, PaddingIsSkippedNotMultiplied) {
  ConvAttrs a = plain_convolution(1);
  a.low = {1};
  EXPECT_THAT(line({1, 2}, {HUGE_VAL, 1}, a), ElementsAre(1, HUGE_VAL));
}

/// From the definition in StableHLO: two spatial axes, unlike layouts, groups.
double expected(const HostArray& x, const HostArray& k, const ConvAttrs& a, std::int64_t n,
                std::int64_t o, std::int64_t i, std::int64_t j) {
  // x [h, n, w, c], k [o, c, h, w].
  const Extents& xs = x.extents();
  const Extents& ks = k.extents();
  const std::int64_t fg = a.feature_groups.constant(), bg = a.batch_groups.constant();
  const std::int64_t row = o / (ks[0] / bg) * (xs[1] / bg) + n, group = o / (ks[0] / fg);
  double sum = 0;
  for (std::int64_t p = 0; p < ks[2]; ++p) {
    for (std::int64_t q = 0; q < ks[3]; ++q) {
      const std::int64_t h = i * a.strides[0] + p * a.rhs_dilation[0] - a.low[0].constant();
      const std::int64_t w = j * a.strides[1] + q * a.rhs_dilation[1] - a.low[1].constant();
      if (h < 0 || w < 0 || h % a.lhs_dilation[0] || w % a.lhs_dilation[1]) continue;
      const std::int64_t r = h / a.lhs_dilation[0], s = w / a.lhs_dilation[1];
      if (r >= xs[0] || s >= xs[2]) continue;
      const std::int64_t kp = a.reversed[0] ? ks[2] - 1 - p : p;
      const std::int64_t kq = a.reversed[1] ? ks[3] - 1 - q : q;
      for (std::int64_t c = 0; c < ks[1]; ++c) {
        sum += x.element(((r * xs[1] + row) * xs[2] + s) * xs[3] + group * ks[1] + c) *
               k.element(((o * ks[1] + c) * ks[2] + kp) * ks[3] + kq);
      }
    }
  }
  return sum;
}

TEST(Convolution, AgreesWithTheDefinition) {
  ConvAttrs base = plain_convolution(2);
  base.dims.lhs_spatial = {0, 2};
  base.dims.lhs_batch = 1;
  base.dims.lhs_feature = 3;
  base.dims.out_batch = 3;
  base.dims.out_feature = 0;
  base.dims.out_spatial = {2, 1};
  std::vector<ConvAttrs> cases(5, base);
  cases[1].strides = {2, 1}, cases[1].low = {1, 2}, cases[1].high = {0, -1};
  cases[2].lhs_dilation = {2, 3}, cases[2].rhs_dilation = {1, 2}, cases[2].reversed = {true, false};
  cases[3].feature_groups = 2, cases[3].low = {1, 1};
  cases[4].batch_groups = 2, cases[4].strides = {1, 2};
  for (const ConvAttrs& a : cases) {
    const std::int64_t per_group = 4 / a.feature_groups.constant();
    const HostArray x = counting(DType::f64, {5, 2, 4, 4}, -20);
    const HostArray k = counting(DType::f64, {6, per_group, 2, 3}, -11);
    const HostArray y = conv(x, k, a);
    const Extents& e = y.extents();
    ASSERT_EQ(e[0], 6);
    ASSERT_GT(y.size(), 0);
    for (std::int64_t o = 0; o < e[0]; ++o) {
      for (std::int64_t j = 0; j < e[1]; ++j) {
        for (std::int64_t i = 0; i < e[2]; ++i) {
          for (std::int64_t n = 0; n < e[3]; ++n) {
            EXPECT_EQ(y.element(((o * e[1] + j) * e[2] + i) * e[3] + n),
                      expected(x, k, a, n, o, i, j));
          }
        }
      }
    }
  }
}

TEST(Convolution, HalfTypesRoundOnceAndEveryNumberWorks) {
  const ConvAttrs a = plain_convolution(1);
  EXPECT_THAT(values(conv(array(DType::bf16, {1, 1, 3}, {256, 1, 1}),
                          array(DType::bf16, {1, 1, 3}, {1, 1, 1}), a)),
              ElementsAre(258));
  for (DType t : all_dtypes()) {
    if (t == DType::boolean) continue;
    EXPECT_THAT(values(conv(array(t, {1, 1, 2}, {1, 2}), array(t, {1, 1, 2}, {3, 4}), a)),
                ElementsAre(11));
  }
}

TEST(Convolution, Nothing) {
  const ConvAttrs a = plain_convolution(1);
  // No features: empty sums.
  EXPECT_THAT(values(conv(array(DType::f32, {1, 0, 3}, {}), array(DType::f32, {2, 0, 2}, {}), a)),
              Each(0));
  EXPECT_EQ(conv(array(DType::f32, {0, 1, 3}, {}), array(DType::f32, {2, 1, 2}, {1, 2, 3, 4}), a)
                .extents(),
            (Extents{0, 2, 2}));
  EXPECT_EQ(to_string(conv(array(DType::f32, {1, 2}, {3, 4}), array(DType::f32, {1, 2}, {5, 6}),
                           plain_convolution(0))),
            "f32[1, 1] {39}");
}

TEST(Convolution, InfersSymbolicSizes) {
  const Dim n = ir::Symbol::fresh("n"), b = ir::Symbol::fresh("b");
  ConvAttrs a = plain_convolution(1);
  const Type k = Type::get(DType::f32, {8, 4, 3});
  EXPECT_EQ(inferred(rows::Convolution, ir::make_attr(a), {Type::get(DType::f32, {b, 4, n}), k}),
            "f32[b, 8, max(0, n-2)]");
  a.low = {1}, a.high = {1};
  EXPECT_EQ(inferred(rows::Convolution, ir::make_attr(a), {Type::get(DType::f32, {b, 4, n}), k}),
            "f32[b, 8, n]");
  a.strides = {2}, a.low = {0}, a.high = {0};
  EXPECT_EQ(inferred(rows::Convolution, ir::make_attr(a), {Type::get(DType::f32, {b, 4, n}), k}),
            "f32[b, 8, max(0, floordiv(n+1, 2)-1)]");
  // What batching makes: groups by a symbolic number of lanes.
  a = plain_convolution(1), a.batch_groups = b;
  EXPECT_EQ(inferred(rows::Convolution, ir::make_attr(a),
                     {Type::get(DType::f32, {b * 5, 4, 3}), Type::get(DType::f32, {b * 2, 4, 3})}),
            "f32[5, 2*b, 1]");
}

TEST(Convolution, Refusals) {
  const Type x = Type::get(DType::f32, {2, 4, 5}), k = Type::get(DType::f32, {6, 4, 3});
  auto code = [&](const ConvAttrs& a, Type k) {
    return refusal(rows::Convolution, ir::make_attr(a), {x, k});
  };
  ConvAttrs a = plain_convolution(1);
  EXPECT_EQ(code(a, k), "");
  EXPECT_EQ(code(a, Type::get(DType::f32, {6, 3, 3})), "TL-SHAPE-001");
  EXPECT_EQ(code(a, k.with_dtype(DType::f64)), "TL-DTYPE-001");
  EXPECT_EQ(code(a, Type::get(DType::f32, {6, 4})), "TL-RANK-001");
  EXPECT_EQ(code(plain_convolution(2), k), "TL-AXIS-001");
  a.dims.lhs_feature = 0;
  EXPECT_EQ(code(a, k), "TL-AXIS-001");
  a = plain_convolution(1), a.strides = {0};
  EXPECT_EQ(code(a, k), "TL-CONV-001");
  a = plain_convolution(1), a.batch_groups = 2, a.feature_groups = 2;
  EXPECT_EQ(code(a, k), "TL-CONV-001");
  a = plain_convolution(1), a.batch_groups = 4;
  EXPECT_EQ(code(a, k), "TL-SHAPE-001");
  a = plain_convolution(1), a.low = {};
  EXPECT_EQ(code(a, k), "TL-RANK-001");
}

TEST(ExactQuotient, InvertsProducts) {
  const Dim n = ir::Symbol::fresh("n"), b = ir::Symbol::fresh("b");
  EXPECT_EQ(exact_quotient(b * n * 6 + b * 2, b * 2), n * 3 + 1);
  EXPECT_EQ(exact_quotient(b * floordiv(n, 3), b), floordiv(n, 3));
  EXPECT_EQ(exact_quotient(0, b), Dim(0));
  EXPECT_EQ(exact_quotient(12, 4), Dim(3));
  EXPECT_EQ(exact_quotient(b * 3, b * 2), std::nullopt);
  EXPECT_EQ(exact_quotient(b + 1, b), std::nullopt);
  EXPECT_EQ(exact_quotient(b, b + 1), std::nullopt);
  EXPECT_EQ(exact_quotient(12, 0), std::nullopt);
  EXPECT_EQ(quotient(n, 2), floordiv(n, 2));
}

}  // namespace
}  // namespace tlaloc::ops
