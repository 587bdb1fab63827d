// Folding with any reducer.
#include "tlaloc/ops/reduce_general.h"

#include "tlaloc/ops/testing.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::ops {
namespace {

using testing::array;
using testing::counting;
using testing::difference;
using testing::eval;
using testing::eval_all;
using testing::f64;
using testing::kInf;
using testing::numbers;
using testing::refusal;

/// (acc…, x…) -> f on scalars of these types.
ir::GraphRef reducer(const std::vector<DType>& types, const std::function<Vals(const Vals&)>& f) {
  ir::Builder b;
  Vals p;
  for (int pass = 0; pass < 2; ++pass) {
    for (DType t : types) p.push_back(b.param(Type::scalar(t)));
  }
  return b.build(f(p));
}
ir::AttrRef fold(std::vector<std::int64_t> axes, ir::GraphRef g) {
  return ir::make_attr(FoldAttrs{std::move(axes), {std::move(g)}});
}
HostArray scalar(DType t, double x) { return array(t, {}, {x}); }

TEST(Reduce, FoldsInOrderFromTheStart) {
  // acc * 10 + x keeps the order of the elements.
  const auto digits = reducer(
      {DType::i32}, [](const Vals& p) { return Vals{p[0] * scalar_int(10, DType::i32) + p[1]}; });
  const HostArray x = array(DType::i32, {2, 3}, {1, 2, 3, 4, 5, 6});
  auto run = [&](std::vector<std::int64_t> axes, HostArray start) {
    return eval(rows::Reduce, fold(std::move(axes), digits), {x, std::move(start)});
  };
  EXPECT_EQ(difference(run({1}, scalar(DType::i32, 9)), numbers(DType::i32, {9123, 9456})), "");
  EXPECT_EQ(difference(run({0}, scalar(DType::i32, 0)), numbers(DType::i32, {14, 25, 36})), "");
  EXPECT_EQ(run({0, 1}, scalar(DType::i32, 0)).element_int(0), 123456);
  EXPECT_EQ(difference(run({1}, numbers(DType::i32, {7, 8})), numbers(DType::i32, {7123, 8456})),
            "");
  EXPECT_EQ(difference(run({}, scalar(DType::i32, 1)),
                       array(DType::i32, {2, 3}, {11, 12, 13, 14, 15, 16})),
            "");
}

TEST(Reduce, SeveralArrays) {
  // The largest value and its tag.
  const auto best = reducer({DType::f32, DType::i64}, [](const Vals& p) {
    const Val wins = p[2] > p[0];
    return Vals{select(wins, p[2], p[0]), select(wins, p[3], p[1])};
  });
  const auto r = eval_all(rows::Reduce, fold({0}, best),
                          {numbers(DType::f32, {3, 8, 5}), numbers(DType::i64, {30, 80, 50}),
                           scalar(DType::f32, -1), scalar(DType::i64, 0)});
  EXPECT_EQ(r[0].element(0), 8);
  EXPECT_EQ(r[1].element_int(0), 80);
}

TEST(Reduce, ConstantsAndEmptyAxes) {
  const auto one =
      reducer({DType::f64}, [](const Vals&) { return Vals{ops::scalar(1, DType::f64)}; });
  EXPECT_EQ(difference(eval(rows::Reduce, fold({1}, one),
                            {counting(DType::f64, {2, 3}), scalar(DType::f64, 0)}),
                       f64({1, 1})),
            "");
  EXPECT_EQ(difference(eval(rows::Reduce, fold({1}, one),
                            {array(DType::f64, {2, 0}, {}), scalar(DType::f64, 5)}),
                       f64({5, 5})),
            "");
}

TEST(Reduce, EachStepRounds) {
  const auto plus = reducer({DType::f16}, [](const Vals& p) { return Vals{p[0] + p[1]}; });
  EXPECT_EQ(eval(rows::Reduce, fold({0}, plus),
                 {numbers(DType::f16, {2048, 1, 1}), scalar(DType::f16, 0)})
                .element(0),
            2048);
}

TEST(Reduce, KnownReducersBecomeTheirOwnOp) {
  auto op_for = [](DType t, double start, const std::function<Val(Val, Val)>& f) {
    const auto g = reducer({t}, [&](const Vals& p) { return Vals{f(p[0], p[1])}; });
    ir::Builder b;
    const Val x = b.param(Type::get(t, {4}));
    const Val from = ops::scalar(start, t);
    const std::int64_t axis = 0;
    return std::string(b.op_of(reduce({{x}}, {{from}}, std::span(&axis, 1), g)[0])->name);
  };
  auto plus = [](Val a, Val b) { return a + b; };
  EXPECT_EQ(op_for(DType::f32, 0, plus), "reduce_sum");
  EXPECT_EQ(op_for(DType::f32, -0., plus), "reduce");  // another result for nothing but -0
  EXPECT_EQ(op_for(DType::bf16, 0, plus), "reduce");   // rounds at each step
  EXPECT_EQ(op_for(DType::f32, 1, plus), "reduce");
  EXPECT_EQ(op_for(DType::i32, 1, [](Val a, Val b) { return b * a; }), "reduce_prod");
  EXPECT_EQ(op_for(DType::f16, -kInf, [](Val a, Val b) { return max(a, b); }), "reduce_max");
  EXPECT_EQ(op_for(DType::boolean, 1, [](Val a, Val b) { return logical_and(a, b); }),
            "reduce_and");
  EXPECT_EQ(op_for(DType::f32, 0, [](Val a, Val b) { return a - b; }), "reduce");
}

TEST(Reduce, Refusals) {
  const auto plus = reducer({DType::f32}, [](const Vals& p) { return Vals{p[0] + p[1]}; });
  const Type x = Type::get(DType::f32, {2, 3}), start = Type::scalar(DType::f32);
  EXPECT_EQ(refusal(rows::Reduce, fold({0}, plus), {x, start}), "");
  EXPECT_EQ(refusal(rows::Reduce, fold({0}, plus), {x}), "TL-ARITY-001");
  EXPECT_EQ(refusal(rows::Reduce, fold({2}, plus), {x, start}), "TL-AXIS-001");
  EXPECT_EQ(refusal(rows::Reduce, fold({1, 0}, plus), {x, start}), "TL-AXIS-001");
  EXPECT_EQ(refusal(rows::Reduce, fold({0}, plus), {x, Type::scalar(DType::f64)}), "TL-DTYPE-001");
  EXPECT_EQ(refusal(rows::Reduce, fold({0}, plus), {x, x}), "TL-RANK-001");
  EXPECT_EQ(refusal(rows::Reduce, fold({0}, plus), {x, Type::get(DType::f32, {2})}),
            "TL-SHAPE-001");
  const Type y = Type::get(DType::f64, {2, 3});
  EXPECT_EQ(refusal(rows::Reduce, fold({0}, plus), {y, Type::scalar(DType::f64)}), "TL-REGION-001");
}

}  // namespace
}  // namespace tlaloc::ops
