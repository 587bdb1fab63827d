// Orders: sort, top_k; with comparators and what they refuse.
#include "tlaloc/ops/sort.h"

#include "tlaloc/ops/testing.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::ops {
namespace {

using testing::all_dtypes;
using testing::array;
using testing::difference;
using testing::eval;
using testing::eval_all;
using testing::f64;
using testing::kInf;
using testing::kNan;
using testing::numbers;
using testing::refusal;

ir::AttrRef order(std::int64_t axis, bool descending = false, std::int64_t keys = 1) {
  return ir::make_attr(SortAttrs{axis, keys, descending, {}});
}
/// (a, b, …) -> f(a, b) on scalars of these types, each standing for a pair.
ir::GraphRef comparator(const std::vector<DType>& types, const std::function<Val(const Vals&)>& f) {
  ir::Builder b;
  Vals p;
  for (DType t : types) {
    p.push_back(b.param(Type::scalar(t)));
    p.push_back(b.param(Type::scalar(t)));
  }
  return b.build(Vals{f(p)});
}
ir::AttrRef by(ir::GraphRef g, std::int64_t axis = 0) {
  return ir::make_attr(SortAttrs{axis, 1, false, ir::GraphAttr{std::move(g)}});
}
HostArray positions(std::int64_t n) { return testing::counting(DType::i32, {n}); }

TEST(Sort, EveryElementType) {
  for (DType t : all_dtypes()) {
    EXPECT_EQ(difference(eval(rows::Sort, order(0), {numbers(t, {3, 0, 1, 2, 0})}),
                         numbers(t, t == DType::boolean ? std::vector<double>{0, 0, 1, 1, 1}
                                                        : std::vector<double>{0, 0, 1, 2, 3})),
              "");
  }
  EXPECT_EQ(difference(eval(rows::Sort, order(0), {numbers(DType::i8, {-128, 127, -1})}),
                       numbers(DType::i8, {-128, -1, 127})),
            "");
}

TEST(Sort, StandardOrder) {
  const HostArray x = f64({1, kNan, 3, kInf, -0., 0, -kInf, kNan});
  auto r = eval_all(rows::Sort, order(0), {x, positions(8)});
  EXPECT_EQ(difference(r[0], f64({-kInf, -0., 0, 1, 3, kInf, kNan, kNan})), "");
  EXPECT_EQ(difference(r[1], numbers(DType::i32, {6, 4, 5, 0, 2, 3, 1, 7})), "");
  r = eval_all(rows::Sort, order(0, true), {x, positions(8)});
  EXPECT_EQ(difference(r[0], f64({kNan, kNan, kInf, 3, 1, -0., 0, -kInf})), "");
  EXPECT_EQ(difference(r[1], numbers(DType::i32, {1, 7, 3, 2, 0, 4, 5, 6})), "");
}

TEST(Sort, KeysAreLexicographic) {
  const HostArray a = numbers(DType::i32, {2, 1, 2, 1}), b = f64({1, 4, 0, 3});
  const auto r = eval_all(rows::Sort, order(0, false, 2), {a, b, positions(4)});
  EXPECT_EQ(difference(r[1], f64({3, 4, 0, 1})), "");
  EXPECT_EQ(difference(r[2], numbers(DType::i32, {3, 1, 2, 0})), "");
}

TEST(Sort, Axes) {
  const HostArray x = array(DType::i32, {2, 3}, {3, 1, 2, 0, 5, 4});
  EXPECT_EQ(
      difference(eval(rows::Sort, order(1), {x}), array(DType::i32, {2, 3}, {1, 2, 3, 0, 4, 5})),
      "");
  EXPECT_EQ(
      difference(eval(rows::Sort, order(0), {x}), array(DType::i32, {2, 3}, {0, 1, 2, 3, 5, 4})),
      "");
  EXPECT_EQ(eval(rows::Sort, order(0), {array(DType::f32, {0, 3}, {})}).size(), 0);
  EXPECT_EQ(eval(rows::Sort, order(1), {array(DType::f32, {0, 3}, {})}).size(), 0);
}

TEST(Sort, HugeAxesWithoutElements) {
  const std::int64_t huge = 1ll << 40;
  for (const std::int64_t axis : {0, 1, 2}) {
    EXPECT_EQ(eval(rows::Sort, order(axis), {HostArray(DType::f32, {huge, 0, huge})}).size(), 0);
  }
}

TEST(Sort, ManyElementsStayStable) {
  HostArray x(DType::u8, {1000});
  for (std::size_t i = 0; i < 1000; ++i) {
    x.as_mutable<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 7919 % 13);
  }
  const auto r = eval_all(rows::Sort, order(0), {x, positions(1000)});
  for (std::int64_t i = 1; i < 1000; ++i) {
    EXPECT_TRUE(r[0].element(i - 1) < r[0].element(i) ||
                (r[0].element(i - 1) == r[0].element(i) && r[1].element(i - 1) < r[1].element(i)));
  }
}

TEST(Sort, Comparator) {
  // By distance from 2, the farthest first.
  const auto g = comparator({DType::f64, DType::i32},
                            [](const Vals& p) { return abs(p[0] - 2) > abs(p[1] - 2); });
  const auto r = eval_all(rows::Sort, by(g), {f64({1, 5, 3, 2}), positions(4)});
  EXPECT_EQ(difference(r[0], f64({5, 1, 3, 2})), "");
  EXPECT_EQ(difference(r[1], numbers(DType::i32, {1, 0, 2, 3})), "");
  // An answer without any order must not leave the array.
  const auto chaos =
      comparator({DType::f64}, [](const Vals& p) { return logical_not(p[0] < p[1]); });
  EXPECT_EQ(eval(rows::Sort, by(chaos), {f64({3, 1, 2, 1, 3, 2, 2})}).size(), 7);
}

TEST(Sort, Refusals) {
  const Type x = Type::get(DType::f32, {3});
  EXPECT_EQ(refusal(rows::Sort, order(0), {}), "TL-ARITY-001");
  EXPECT_EQ(refusal(rows::Sort, order(1), {x}), "TL-AXIS-001");
  EXPECT_EQ(refusal(rows::Sort, order(0, false, 2), {x}), "TL-ATTR-001");
  EXPECT_EQ(refusal(rows::Sort, order(0), {x, Type::get(DType::f32, {4})}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::Sort, order(0), {x, Type::get(DType::f32, {3, 1})}), "TL-RANK-001");
  auto less = [](const Vals& p) { return p[0] < p[1]; };
  EXPECT_EQ(refusal(rows::Sort, by(comparator({DType::f32}, less)), {x}), "");
  EXPECT_EQ(refusal(rows::Sort, by(comparator({DType::f64}, less)), {x}), "TL-REGION-001");
  EXPECT_EQ(refusal(rows::Sort, by(comparator({DType::f32, DType::f32}, less)), {x}),
            "TL-REGION-001");
  EXPECT_EQ(
      refusal(rows::Sort, by(comparator({DType::f32}, [](const Vals& p) { return p[0]; })), {x}),
      "TL-REGION-001");
  EXPECT_EQ(refusal(rows::Sort,
                    by(comparator({DType::f32},
                                  [](const Vals& p) {
                                    const Val wide = broadcast_in_dim(p[0], std::array{Dim(2)}, {});
                                    const std::int64_t axis = 0;
                                    return reduce_sum(wide, std::span(&axis, 1)) < p[1];
                                  })),
                    {x}),
            "TL-REGION-001");
  EXPECT_EQ(refusal(rows::Sort, by(nullptr), {x}), "TL-REGION-001");
}

TEST(TopK, NanFirstThenLowerPositions) {
  auto k = [](std::int64_t n) { return ir::make_attr(TopKAttrs{n, DType::i32}); };
  const auto r = eval_all(rows::TopK, k(6), {f64({1, kNan, 3, 3, -kInf, kNan, -0., 0})});
  EXPECT_EQ(difference(r[0], f64({kNan, kNan, 3, 3, 1, -0.})), "");
  EXPECT_EQ(difference(r[1], numbers(DType::i32, {1, 5, 2, 3, 0, 6})), "");
  const auto rows_of =
      eval_all(rows::TopK, k(1), {array(DType::i8, {2, 3}, {-128, 127, 0, 5, 4, 3})});
  EXPECT_EQ(difference(rows_of[0], array(DType::i8, {2, 1}, {127, 5})), "");
  EXPECT_EQ(difference(rows_of[1], array(DType::i32, {2, 1}, {1, 0})), "");
  EXPECT_EQ(eval_all(rows::TopK, k(0), {f64({1})})[0].size(), 0);
  EXPECT_EQ(refusal(rows::TopK, k(3), {Type::get(DType::f32, {2})}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::TopK, k(-1), {Type::get(DType::f32, {2})}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::TopK, k(1), {Type::scalar(DType::f32)}), "TL-RANK-001");
}

}  // namespace
}  // namespace tlaloc::ops
