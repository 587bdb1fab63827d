#include "tlaloc/ops/slice.h"

#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {
using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ir::AttrRef slice_attr(std::vector<Dim> start, std::vector<Dim> limit, std::vector<Dim> strides) {
  return ir::make_attr(SliceAttrs{std::move(start), std::move(limit), std::move(strides)});
}
ir::AttrRef window(std::vector<Dim> sizes, std::int64_t batch_axes = 0) {
  return ir::make_attr(DynamicSliceAttrs{std::move(sizes), batch_axes});
}
ir::AttrRef update(std::int64_t batch_axes = 0) {
  return ir::make_attr(DynamicUpdateSliceAttrs{batch_axes});
}
HostArray index(std::int64_t i) { return HostArray::scalar<std::int64_t>(i); }

TEST(Slice, TakesStridedWindows) {
  const HostArray x = counting(DType::f32, {3, 5});
  EXPECT_THAT(values(eval(rows::Slice, slice_attr({1, 0}, {3, 5}, {1, 2}), {x})),
              ElementsAre(5, 7, 9, 10, 12, 14));
  EXPECT_EQ(to_string(eval(rows::Slice, slice_attr({1, 2}, {1, 5}, {1, 1}), {x})), "f32[0, 3] {}");
  EXPECT_EQ(to_string(eval(rows::Slice, slice_attr({}, {}, {}), {index(7)})), "i64[] {7}");
}

TEST(Slice, StridesBeyondTheAxis) {
  // The stride of the outer axis in elements, 2^61 * 4, does not fit.
  const HostArray x = counting(DType::f32, {3, 4});
  const Dim huge = std::int64_t{1} << 61;
  EXPECT_THAT(values(eval(rows::Slice, slice_attr({1, 0}, {3, 2}, {huge, 1}), {x})),
              ElementsAre(4, 5));
  EXPECT_THAT(values(eval(rows::Slice, slice_attr({0, 0}, {3, 4}, {2, huge}), {x})),
              ElementsAre(0, 8));
}

TEST(Slice, ArraysWithoutElementsMayHaveHugeAxes) {
  // 2^80 pairs of nothing.
  const std::int64_t huge = 1ll << 40;
  const HostArray x(DType::f32, {huge, huge, 0});
  EXPECT_EQ(eval(rows::Slice, slice_attr({0, 0, 0}, {huge, 1, 0}, {1, 1, 1}), {x}).extents(),
            (Extents{huge, 1, 0}));
  const HostArray starts(DType::i64, {0});
  const HostArray none(DType::f32, {0, huge, huge});
  EXPECT_EQ(eval(rows::DynamicSlice, window({huge, 1}, 1), {none, starts, starts}).extents(),
            (Extents{0, huge, 1}));
  EXPECT_EQ(eval(rows::DynamicUpdateSlice, update(1), {none, none, starts, starts}).extents(),
            none.extents());
}

TEST(Slice, EveryElementType) {
  for (DType t : all_dtypes()) {
    const HostArray y = eval(rows::Slice, slice_attr({1}, {4}, {2}), {array(t, {4}, {0, 1, 0, 1})});
    EXPECT_EQ(y.dtype(), t);
    EXPECT_THAT(values(y), ElementsAre(1, 1));
  }
}

TEST(Slice, InfersSymbolicSizes) {
  const ir::Symbol n = ir::Symbol::fresh("n");
  const Type x = Type::get(DType::f32, {Dim(n)});
  EXPECT_EQ(inferred(rows::Slice, slice_attr({0}, {n}, {1}), {x}), "f32[n]");
  EXPECT_EQ(inferred(rows::Slice, slice_attr({0}, {n}, {2}), {x}), "f32[floordiv(n+1, 2)]");
  EXPECT_EQ(inferred(rows::Slice, slice_attr({0}, {3}, {1}), {x}),
            "f32[3]\nat most: limit on axis 0: 3, n");
  EXPECT_THAT(values(eval(rows::Slice, slice_attr({Dim(n) - 2}, {n}, {1}),
                          {counting(DType::i32, {5})}, {{n, 5}})),
              ElementsAre(3, 4));
}

TEST(Slice, Refusals) {
  const Type x = Type::get(DType::f32, {4});
  EXPECT_EQ(refusal(rows::Slice, slice_attr({0}, {5}, {1}), {x}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::Slice, slice_attr({3}, {2}, {1}), {x}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::Slice, slice_attr({-1}, {2}, {1}), {x}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::Slice, slice_attr({0}, {4}, {0}), {x}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::Slice, slice_attr({0, 0}, {4, 4}, {1, 1}), {x}), "TL-RANK-001");
}

TEST(DynamicSlice, ClampsItsStarts) {
  const HostArray x = counting(DType::f32, {5});
  auto at = [&](std::int64_t i) {
    return values(eval(rows::DynamicSlice, window({2}), {x, index(i)}));
  };
  EXPECT_THAT(at(1), ElementsAre(1, 2));
  EXPECT_THAT(at(4), ElementsAre(3, 4));
  EXPECT_THAT(at(-7), ElementsAre(0, 1));
  const HostArray huge = HostArray::scalar<std::uint64_t>(~std::uint64_t{0});
  EXPECT_THAT(values(eval(rows::DynamicSlice, window({2}), {x, huge})), ElementsAre(3, 4));
}

TEST(DynamicSlice, ReadsOneWindowPerBatchIndex) {
  const HostArray x = counting(DType::i32, {2, 4, 2});
  const HostArray rows = array(DType::i32, {2}, {1, 9}), columns = array(DType::i32, {2}, {0, 1});
  EXPECT_THAT(values(eval(rows::DynamicSlice, window({2, 1}, 1), {x, rows, columns})),
              ElementsAre(2, 4, 13, 15));
}

TEST(DynamicSlice, RankZeroAndNothing) {
  EXPECT_EQ(to_string(eval(rows::DynamicSlice, window({}), {index(3)})), "i64[] {3}");
  EXPECT_THAT(values(eval(rows::DynamicSlice, window({0}), {counting(DType::f32, {3}), index(2)})),
              IsEmpty());
  EXPECT_THAT(values(eval(rows::DynamicSlice, window({0}, 1),
                          {counting(DType::f32, {0, 3}), array(DType::i64, {0}, {})})),
              IsEmpty());
}

TEST(DynamicSlice, Refusals) {
  const Type x = Type::get(DType::f32, {4, 4}), i = Type::scalar(DType::i32);
  EXPECT_EQ(inferred(rows::DynamicSlice, window({2, 2}), {x, i, i}), "f32[2, 2]");
  EXPECT_EQ(refusal(rows::DynamicSlice, window({2, 2}), {x, i}), "TL-ARITY-001");
  EXPECT_EQ(refusal(rows::DynamicSlice, window({2}), {x, i, i}), "TL-RANK-001");
  EXPECT_EQ(refusal(rows::DynamicSlice, window({5, 2}), {x, i, i}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::DynamicSlice, window({2}, 1), {x, i}), "TL-RANK-001");
  EXPECT_EQ(refusal(rows::DynamicSlice, window({2}, 1), {x, Type::get(DType::i32, {3})}),
            "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::DynamicSlice, window({2, 2}), {x, i, Type::scalar(DType::i64)}),
            "TL-DTYPE-001");
  EXPECT_EQ(refusal(rows::DynamicSlice, window({2, 2}), {x, i, Type::scalar(DType::f32)}),
            "TL-DTYPE-004");
}

TEST(DynamicUpdateSlice, ReplacesAClampedWindow) {
  const HostArray x = counting(DType::f32, {4}), u = array(DType::f32, {2}, {8, 9});
  EXPECT_THAT(values(eval(rows::DynamicUpdateSlice, update(), {x, u, index(1)})),
              ElementsAre(0, 8, 9, 3));
  EXPECT_THAT(values(eval(rows::DynamicUpdateSlice, update(), {x, u, index(3)})),
              ElementsAre(0, 1, 8, 9));
  EXPECT_THAT(values(x), ElementsAre(0, 1, 2, 3));
}

TEST(DynamicUpdateSlice, InPlaceWhenNobodyElseHoldsTheOperand) {
  std::vector<HostArray> args{counting(DType::f32, {4}), array(DType::f32, {1}, {7}), index(2)};
  const void* before = args[0].data();
  const HostArray y = eval(rows::DynamicUpdateSlice, update(), std::move(args));
  EXPECT_EQ(y.data(), before);
  EXPECT_THAT(values(y), ElementsAre(0, 1, 7, 3));
}

TEST(DynamicUpdateSlice, OneWindowPerBatchIndex) {
  const HostArray x = counting(DType::i8, {2, 3});
  EXPECT_THAT(values(eval(rows::DynamicUpdateSlice, update(1),
                          {x, array(DType::i8, {2, 1}, {7, 8}), array(DType::i64, {2}, {2, -1})})),
              ElementsAre(0, 1, 7, 8, 4, 5));
}

TEST(DynamicUpdateSlice, Refusals) {
  const Type x = Type::get(DType::f32, {4}), i = Type::scalar(DType::i64);
  EXPECT_EQ(refusal(rows::DynamicUpdateSlice, update(), {x, Type::get(DType::f32, {5}), i}),
            "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::DynamicUpdateSlice, update(), {x, Type::get(DType::f64, {2}), i}),
            "TL-DTYPE-001");
  EXPECT_EQ(refusal(rows::DynamicUpdateSlice, update(), {x, Type::scalar(DType::f32), i}),
            "TL-RANK-001");
}

}  // namespace
}  // namespace tlaloc::ops
