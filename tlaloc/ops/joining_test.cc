#include "tlaloc/ops/joining.h"

#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {
using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ir::AttrRef padding(std::vector<Dim> low, std::vector<Dim> high, std::vector<Dim> interior) {
  return ir::make_attr(PadAttrs{std::move(low), std::move(high), std::move(interior)});
}
ir::AttrRef along(std::int64_t axis) { return ir::make_attr(ConcatenateAttrs{axis}); }
ir::AttrRef axes(std::vector<std::int64_t> a) { return ir::make_attr(ReverseAttrs{std::move(a)}); }

std::vector<double> padded(std::vector<double> x, Dim low, Dim high, Dim interior) {
  const auto n = static_cast<std::int64_t>(x.size());
  return values(eval(rows::Pad, padding({low}, {high}, {interior}),
                     {array(DType::f32, {n}, x), array(DType::f32, {}, {9})}));
}

TEST(Pad, AroundAndBetween) {
  EXPECT_THAT(padded({1, 2, 3}, 1, 2, 0), ElementsAre(9, 1, 2, 3, 9, 9));
  EXPECT_THAT(padded({1, 2, 3}, 0, 1, 2), ElementsAre(1, 9, 9, 2, 9, 9, 3, 9));
  EXPECT_THAT(padded({}, 1, 1, 3), ElementsAre(9, 9));
  EXPECT_THAT(padded({1}, 0, 0, 3), ElementsAre(1));
}
TEST(Pad, NegativeCrops) {
  EXPECT_THAT(padded({1, 2, 3}, -1, 0, 0), ElementsAre(2, 3));
  EXPECT_THAT(padded({1, 2, 3}, -1, -1, 1), ElementsAre(9, 2, 9));
  EXPECT_THAT(padded({1, 2, 3}, -2, 1, 1), ElementsAre(2, 9, 3, 9));
  EXPECT_THAT(padded({1, 2}, -3, 2, 0), ElementsAre(9));
  EXPECT_THAT(padded({1, 2}, 3, -3, 0), ElementsAre(9, 9));
  EXPECT_THAT(padded({1, 2}, -1, -1, 0), IsEmpty());
}
TEST(Pad, AxesAndElementTypes) {
  for (DType t : all_dtypes()) {
    const HostArray y = eval(rows::Pad, padding({1, 0}, {0, 1}, {0, 0}),
                             {array(t, {1, 2}, {1, 1}), array(t, {}, {0})});
    EXPECT_EQ(y.dtype(), t);
    EXPECT_THAT(values(y), ElementsAre(0, 0, 0, 1, 1, 0));
  }
  EXPECT_THAT(values(eval(rows::Pad, padding({}, {}, {}),
                          {array(DType::f32, {}, {3}), array(DType::f32, {}, {9})})),
              ElementsAre(3));
}
TEST(Pad, InfersSymbolicSizes) {
  const ir::Symbol n = ir::Symbol::fresh("n");
  const Type x = Type::get(DType::f32, {Dim(n)}), v = Type::scalar(DType::f32);
  EXPECT_EQ(inferred(rows::Pad, padding({1}, {2}, {0}), {x, v}), "f32[n+3]");
  EXPECT_EQ(inferred(rows::Pad, padding({-1}, {0}, {0}), {x, v}),
            "f32[n-1]\nat most: padded size of axis 0: 0, n-1");
  // What slice's transpose relies on: the maximum cancels.
  const Dim gap = max(Dim(n) - 1, 0) * 2;
  EXPECT_EQ(inferred(rows::Pad, padding({0}, {7 - Dim(n) - gap}, {2}), {x, v}), "f32[7]");
}
TEST(Pad, Refusals) {
  const Type x = Type::get(DType::f32, {2}), v = Type::scalar(DType::f32);
  EXPECT_EQ(refusal(rows::Pad, padding({-2}, {-1}, {0}), {x, v}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::Pad, padding({0}, {0}, {-1}), {x, v}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::Pad, padding({0, 0}, {0}, {0}), {x, v}), "TL-RANK-001");
  EXPECT_EQ(refusal(rows::Pad, padding({0}, {0}, {0}), {x, x}), "TL-RANK-001");
  EXPECT_EQ(refusal(rows::Pad, padding({0}, {0}, {0}), {x, Type::scalar(DType::i32)}),
            "TL-DTYPE-001");
}

TEST(Concatenate, AlongAnyAxis) {
  const HostArray a = counting(DType::i32, {2, 1}), b = counting(DType::i32, {2, 2}, 10);
  EXPECT_THAT(values(eval(rows::Concatenate, along(1), {a, b})), ElementsAre(0, 10, 11, 1, 12, 13));
  EXPECT_THAT(values(eval(rows::Concatenate, along(0), {a, counting(DType::i32, {0, 1}), a})),
              ElementsAre(0, 1, 0, 1));
  for (DType t : all_dtypes()) {
    EXPECT_THAT(values(eval(rows::Concatenate, along(0), {array(t, {1}, {1}), array(t, {1}, {0})})),
                ElementsAre(1, 0));
  }
}
TEST(Concatenate, InfersAndRefuses) {
  const ir::Symbol n = ir::Symbol::fresh("n"), m = ir::Symbol::fresh("m");
  const Type a = Type::get(DType::f32, {Dim(n), 2}), b = Type::get(DType::f32, {3, Dim(m)});
  EXPECT_EQ(inferred(rows::Concatenate, along(0), {a, b}), "f32[n+3, 2]\nequal: axis 1: 2, m");
  EXPECT_EQ(refusal(rows::Concatenate, along(0), {a, Type::get(DType::f32, {3, 5})}),
            "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::Concatenate, along(2), {a, a}), "TL-AXIS-001");
  EXPECT_EQ(refusal(rows::Concatenate, along(0), {}), "TL-ARITY-001");
  EXPECT_EQ(refusal(rows::Concatenate, along(0), {a, a.with_dtype(DType::f64)}), "TL-DTYPE-001");
}

TEST(Reverse, AlongAxes) {
  const HostArray x = counting(DType::f16, {2, 3});
  EXPECT_THAT(values(eval(rows::Reverse, axes({1}), {x})), ElementsAre(2, 1, 0, 5, 4, 3));
  EXPECT_THAT(values(eval(rows::Reverse, axes({0, 1}), {x})), ElementsAre(5, 4, 3, 2, 1, 0));
  EXPECT_THAT(values(eval(rows::Reverse, axes({0}), {counting(DType::f32, {0})})), IsEmpty());
  EXPECT_THAT(values(eval(rows::Reverse, axes({}), {array(DType::f32, {}, {2})})), ElementsAre(2));
  EXPECT_EQ(refusal(rows::Reverse, axes({1, 0}), {type_of(x)}), "TL-AXIS-001");
  EXPECT_EQ(refusal(rows::Reverse, axes({2}), {type_of(x)}), "TL-AXIS-001");
}

}  // namespace
}  // namespace tlaloc::ops
