#include "tlaloc/ops/gather_scatter.h"

#include <limits>

#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {
using namespace testing;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

HostArray indices(Extents extents, const std::vector<double>& v) {
  return array(DType::i32, std::move(extents), v);
}
/// Rows of a matrix.
GatherAttrs row_gather(std::int64_t columns, OutOfBounds mode = OutOfBounds::clip) {
  return {.dims = {.window_axes = {1}, .collapsed_axes = {0}, .index_map = {0}, .vector_axis = 1},
          .sizes = {1, columns},
          .mode = mode};
}
/// Elements of a vector.
ScatterAttrs elements(Update update, OutOfBounds mode = OutOfBounds::fill) {
  return {.dims = {.collapsed_axes = {0}, .index_map = {0}, .vector_axis = 1},
          .update = update,
          .mode = mode};
}

TEST(Gather, RowsWithAndWithoutClamping) {
  const HostArray x = counting(DType::f32, {3, 2});
  const HostArray i = indices({3}, {2, -1, 5});
  EXPECT_EQ(to_string(eval(rows::Gather, ir::make_attr(row_gather(2)), {x, i})),
            "f32[3, 2] {4, 5, 0, 1, 4, 5}");
  EXPECT_EQ(to_string(eval(rows::Gather, ir::make_attr(row_gather(2, OutOfBounds::fill)), {x, i})),
            "f32[3, 2] {4, 5, nan, nan, nan, nan}");
}

TEST(Gather, FillsByElementType) {
  for (DType t : all_dtypes()) {
    GatherAttrs a = row_gather(1, OutOfBounds::fill);
    const HostArray x = array(t, {1, 1}, {0}), outside = indices({1}, {1});
    const double v = eval(rows::Gather, ir::make_attr(a), {x, outside}).element(0);
    if (is_float(t))
      EXPECT_TRUE(std::isnan(v));
    else if (t == DType::boolean)
      EXPECT_EQ(v, 1);
    else if (is_signed_integer(t))
      EXPECT_EQ(v, -std::ldexp(1.0, bit_width(t) - 1));
    else
      EXPECT_GE(v, std::ldexp(1.0, bit_width(t)) - 1);
    a.fill = 1;
    EXPECT_EQ(eval(rows::Gather, ir::make_attr(a), {x, outside}).element(0), 1);
  }
}

TEST(Gather, WindowsAtIndexVectors) {
  // The vectors lie along axis 0 of the indices and name (column, row); windows are 2 by 2.
  const GatherAttrs a{.dims = {.window_axes = {0, 2}, .index_map = {1, 0}, .vector_axis = 0},
                      .sizes = {2, 2}};
  const HostArray x = counting(DType::i32, {3, 4});
  const HostArray i = indices({2, 2}, {1, 9, 0, 1});  // (1, 0), (9, 1)
  const HostArray y = eval(rows::Gather, ir::make_attr(a), {x, i});
  EXPECT_EQ(y.extents(), (Extents{2, 2, 2}));
  // y[r, k, c] = x[row_k + r, column_k + c], columns clamped to 2.
  EXPECT_THAT(values(y), ElementsAre(1, 2, 6, 7, 5, 6, 10, 11));
}

TEST(Gather, BatchAxesAreShared) {
  // y[b, k] = x[i[b, k], b].
  const GatherAttrs a{.dims = {.collapsed_axes = {0},
                               .operand_batch = {1},
                               .indices_batch = {0},
                               .index_map = {0},
                               .vector_axis = 2},
                      .sizes = {1, 1}};
  const HostArray x = counting(DType::f64, {3, 2});
  EXPECT_EQ(to_string(eval(rows::Gather, ir::make_attr(a), {x, indices({2, 2}, {0, 2, 1, 1})})),
            "f64[2, 2] {0, 4, 3, 3}");
}

TEST(Gather, Nothing) {
  const HostArray x = counting(DType::f32, {3, 2});
  EXPECT_THAT(values(eval(rows::Gather, ir::make_attr(row_gather(2)), {x, indices({0}, {})})),
              IsEmpty());
}

TEST(Gather, InfersSymbolicSizes) {
  const ir::Symbol n = ir::Symbol::fresh("n"), k = ir::Symbol::fresh("k");
  GatherAttrs a = row_gather(0);
  a.sizes = {1, Dim(n)};
  EXPECT_EQ(inferred(rows::Gather, ir::make_attr(a),
                     {Type::get(DType::f32, {5, Dim(n)}), Type::get(DType::i32, {Dim(k)})}),
            "f32[k, n]");
}

TEST(Gather, Refusals) {
  const Type x = Type::get(DType::f32, {3, 2}), i = Type::get(DType::i32, {4});
  auto code = [&](GatherAttrs a) {
    return refusal(rows::Gather, ir::make_attr(std::move(a)), {x, i});
  };
  EXPECT_EQ(code(row_gather(2)), "");
  EXPECT_EQ(code(row_gather(3)), "TL-SHAPE-001");
  GatherAttrs a = row_gather(2);
  a.sizes = {2, 2};
  EXPECT_EQ(code(a), "TL-SHAPE-001");
  a = row_gather(2), a.dims.index_map = {0, 1};
  EXPECT_EQ(code(a), "TL-SHAPE-001");
  a = row_gather(2), a.dims.window_axes = {2};
  EXPECT_EQ(code(a), "TL-AXIS-001");
  a = row_gather(2), a.dims.vector_axis = 2;
  EXPECT_EQ(code(a), "TL-AXIS-001");
  a = row_gather(2), a.dims.operand_batch = {0}, a.dims.indices_batch = {0};
  EXPECT_EQ(code(a), "TL-AXIS-001");
  EXPECT_EQ(refusal(rows::Gather, ir::make_attr(row_gather(2)), {x, Type::get(DType::f32, {4})}),
            "TL-DTYPE-004");
}

TEST(Scatter, UpdatesInOrder) {
  const HostArray x = array(DType::f32, {4}, {1, 2, 3, 4}), i = indices({4}, {1, 3, 1, 7});
  const HostArray u = array(DType::f32, {4}, {10, 20, 30, 40});
  auto run = [&](Update update, OutOfBounds mode = OutOfBounds::fill) {
    return values(eval(rows::Scatter, ir::make_attr(elements(update, mode)), {x, i, u}));
  };
  EXPECT_THAT(run(Update::set), ElementsAre(1, 30, 3, 20));
  EXPECT_THAT(run(Update::set, OutOfBounds::clip), ElementsAre(1, 30, 3, 40));
  EXPECT_THAT(run(Update::add), ElementsAre(1, 42, 3, 24));
  EXPECT_THAT(run(Update::mul), ElementsAre(1, 600, 3, 80));
  EXPECT_THAT(run(Update::max), ElementsAre(1, 30, 3, 20));
  EXPECT_THAT(run(Update::min), ElementsAre(1, 2, 3, 4));
}

TEST(Scatter, InPlaceWhenNobodyElseHoldsTheOperand) {
  std::vector<HostArray> args{counting(DType::f32, {4}), indices({1}, {2}),
                              array(DType::f32, {1}, {5})};
  const void* before = args[0].data();
  const HostArray y = eval(rows::Scatter, ir::make_attr(elements(Update::add)), std::move(args));
  EXPECT_EQ(y.data(), before);
  EXPECT_THAT(values(y), ElementsAre(0, 1, 7, 3));
}

TEST(Scatter, EveryElementType) {
  for (DType t : all_dtypes()) {
    for (Update update : {Update::set, Update::add, Update::mul, Update::min, Update::max}) {
      if (t == DType::boolean && (update == Update::add || update == Update::mul)) continue;
      const HostArray y = eval(rows::Scatter, ir::make_attr(elements(update)),
                               {array(t, {2}, {1, 0}), indices({1}, {1}), array(t, {1}, {1})});
      const double want = update == Update::min || update == Update::mul ? 0 : 1;
      EXPECT_THAT(values(y), ElementsAre(1, want));
    }
  }
}

TEST(Scatter, AddRoundsAtEachUpdateAndIntegersWrap) {
  // bf16 has 8 bits of precision: 256 + 1 rounds back to 256, each time.
  const HostArray y =
      eval(rows::Scatter, ir::make_attr(elements(Update::add)),
           {array(DType::bf16, {1}, {256}), indices({2}, {0, 0}), array(DType::bf16, {2}, {1, 1})});
  EXPECT_THAT(values(y), ElementsAre(256));
  EXPECT_THAT(
      values(eval(rows::Scatter, ir::make_attr(elements(Update::add)),
                  {array(DType::u8, {1}, {255}), indices({1}, {0}), array(DType::u8, {1}, {2})})),
      ElementsAre(1));
}

TEST(Scatter, AWindowThatDoesNotFitIsDroppedOrMoved) {
  ScatterAttrs a{.dims = {.window_axes = {0}, .index_map = {0}, .vector_axis = 0},
                 .update = Update::set};
  const HostArray x = counting(DType::f32, {4}), u = array(DType::f32, {2}, {8, 9});
  EXPECT_THAT(values(eval(rows::Scatter, ir::make_attr(a), {x, indices({1}, {3}), u})),
              ElementsAre(0, 1, 2, 3));
  a.mode = OutOfBounds::clip;
  EXPECT_THAT(values(eval(rows::Scatter, ir::make_attr(a), {x, indices({1}, {3}), u})),
              ElementsAre(0, 1, 8, 9));
}

TEST(Scatter, BatchAxesAreShared) {
  const ScatterAttrs a{.dims = {.collapsed_axes = {1},
                                .operand_batch = {0},
                                .indices_batch = {0},
                                .index_map = {1},
                                .vector_axis = 2}};
  EXPECT_THAT(values(eval(rows::Scatter, ir::make_attr(a),
                          {counting(DType::f32, {2, 2}), indices({2, 2}, {0, 0, 1, 0}),
                           array(DType::f32, {2, 2}, {10, 20, 30, 40})})),
              ElementsAre(30, 1, 42, 33));
}

TEST(Scatter, Refusals) {
  const Type x = Type::get(DType::f32, {4}), i = Type::get(DType::i32, {3});
  auto code = [&](Type x, Type u) {
    return refusal(rows::Scatter, ir::make_attr(elements(Update::add)), {x, i, u});
  };
  EXPECT_EQ(code(x, Type::get(DType::f32, {3})), "");
  EXPECT_EQ(code(x, Type::get(DType::f32, {2})), "TL-SHAPE-001");
  EXPECT_EQ(code(x, Type::get(DType::f64, {3})), "TL-DTYPE-001");
  EXPECT_EQ(code(x, Type::get(DType::f32, {3, 1})), "TL-RANK-001");
  EXPECT_EQ(code(x.with_dtype(DType::boolean), Type::get(DType::boolean, {3})), "TL-DTYPE-004");
}

}  // namespace
}  // namespace tlaloc::ops
