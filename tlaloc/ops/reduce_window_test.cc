// Reductions over windows, checked against JAX's values, and winners of windows.
#include "tlaloc/ops/reduce_window.h"

#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {

using testing::all_dtypes;
using testing::array;
using testing::counting;
using testing::difference;
using testing::eval;
using testing::f64;
using testing::kInf;
using testing::kNan;
using testing::numbers;
using testing::refusal;

Window line(std::int64_t size, std::int64_t stride = 1, std::int64_t low = 0, std::int64_t high = 0,
            std::int64_t base = 1, std::int64_t dilation = 1) {
  return {{size}, {stride}, {low}, {high}, {base}, {dilation}};
}
ir::AttrRef reduces(Monoid m, Window w) {
  return ir::make_attr(ReduceWindowAttrs{m, std::move(w)});
}
ir::AttrRef selects(Window w, bool largest = true) {
  return ir::make_attr(SelectWindowAttrs{largest, std::move(w)});
}

TEST(ReduceWindow, PaddingStridesAndDilations) {
  auto check = [](Window w, std::vector<double> y) {
    EXPECT_EQ(difference(
                  eval(rows::ReduceWindow, reduces(Monoid::sum, std::move(w)), {f64({1, 2, 3, 4})}),
                  f64(y)),
              "");
  };
  check(line(2), {3, 5, 7});
  check(line(2, 1, -1, 2), {5, 7, 4, 0});
  check(line(2, 2, 1, 0), {1, 5});
  check(line(2, 2, 1, 0, 2, 3), {2, 3, 4});
  check(line(3, 1, 0, 0, 1, 2), {});
  check(line(5), {});
  check(line(4, 1, 3, 0), {1, 3, 6, 10});
  const Window square{{2, 2}, {1, 2}, {0, 0}, {0, 0}, {1, 1}, {1, 1}};
  EXPECT_EQ(difference(eval(rows::ReduceWindow, reduces(Monoid::max, square),
                            {counting(DType::f64, {3, 4})}),
                       array(DType::f64, {2, 2}, {5, 7, 9, 11})),
            "");
  EXPECT_EQ(
      eval(rows::ReduceWindow, reduces(Monoid::sum, plain_window({})), {array(DType::f64, {}, {3})})
          .element(0),
      3);
}

TEST(ReduceWindow, MonoidsAndTypes) {
  for (DType t : all_dtypes()) {
    auto check = [&](Monoid m, std::vector<double> x, std::vector<double> y) {
      EXPECT_EQ(
          difference(eval(rows::ReduceWindow, reduces(m, line(2)), {numbers(t, x)}), numbers(t, y)),
          "");
    };
    auto code = [&](Monoid m) {
      return refusal(rows::ReduceWindow, reduces(m, line(2)), {Type::get(t, {3})});
    };
    const bool is_bool = t == DType::boolean;
    check(Monoid::max, {0, 1, 0, 0}, {1, 1, 0});
    check(Monoid::min, {0, 1, 1, 0}, {0, 1, 0});
    EXPECT_EQ(code(Monoid::sum), is_bool ? "TL-DTYPE-004" : "");
    EXPECT_EQ(code(Monoid::all), is_float(t) ? "TL-DTYPE-004" : "");
    if (!is_bool) check(Monoid::sum, {1, 2, 3}, {3, 5});
    if (!is_bool) check(Monoid::prod, {1, 2, 3}, {2, 6});
    if (!is_float(t)) check(Monoid::any, {0, 1, 0, 0}, {1, 1, 0});
    if (!is_float(t)) check(Monoid::all, {1, 1, 0, 1}, {1, 0, 0});
  }
}

TEST(ReduceWindow, EdgesOfFloats) {
  auto check = [](Monoid m, Window w, std::vector<double> x, std::vector<double> y) {
    EXPECT_EQ(difference(eval(rows::ReduceWindow, reduces(m, std::move(w)), {f64(x)}), f64(y)), "");
  };
  check(Monoid::max, line(2), {1, kNan, 2, 3}, {kNan, kNan, 3});
  check(Monoid::max, line(2, 1, 2, 2), {}, {-kInf, -kInf, -kInf});  // nothing but padding
  check(Monoid::min, line(1, 1, 1, 0), {-kInf}, {kInf, -kInf});
  check(Monoid::sum, line(1), {-0.}, {0});
}

TEST(ReduceWindow, Refusals) {
  auto code = [](Window w) {
    return refusal(rows::ReduceWindow, reduces(Monoid::sum, std::move(w)),
                   {Type::get(DType::f32, {4})});
  };
  EXPECT_EQ(code(line(0)), "TL-WINDOW-001");
  EXPECT_EQ(code(line(2, 0)), "TL-WINDOW-001");
  EXPECT_EQ(code(line(2, 1, 0, 0, 0)), "TL-WINDOW-001");
  EXPECT_EQ(code(line(2, 1, 0, 0, 1, -1)), "TL-WINDOW-001");
  EXPECT_EQ(code(plain_window({2, 2})), "TL-WINDOW-001");
}

TEST(ReduceWindow, SymbolicSizes) {
  const Dim n = ir::Symbol::fresh("n");
  const std::vector<Type> in{Type::get(DType::f32, {n})};
  EXPECT_EQ(testing::inferred(rows::ReduceWindow, reduces(Monoid::sum, line(3, 2)), in),
            "f32[max(0, floordiv(n+1, 2)-1)]");
  // The transpose gives back as many elements as there were, without a doubt.
  for (const Window& w : {line(3, 2), line(2, 3, -1, 2), line(3, 1, 1, 1, 2, 2)}) {
    std::vector<Type> out;
    {
      ir::Builder b;
      const Val x = b.param(in[0]);
      const Val y = reduce_window(x, Monoid::sum, w);
      const Window t = transposed_window(w, x.type(), y.type());
      out = {reduce_window(y, Monoid::sum, t).type()};
    }
    EXPECT_EQ(out[0].to_string(), in[0].to_string());
  }
}

TEST(SelectWindow, FirstOfEqualsAndLastNan) {
  auto winners = [](std::vector<double> x, bool largest = true) {
    const HostArray tags = testing::counting(DType::i32, {static_cast<std::int64_t>(x.size())});
    return testing::values(eval(rows::SelectAndGather, selects(line(2), largest), {tags, f64(x)}));
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(winners({1, 1, 1, 0}), ElementsAre(0, 1, 2));
  EXPECT_THAT(winners({1, 1, 1, 0}, false), ElementsAre(0, 1, 3));
  EXPECT_THAT(winners({1, kNan, kNan, 0}), ElementsAre(1, 2, 2));
  EXPECT_THAT(winners({kNan, 1, 2, kNan}), ElementsAre(0, 2, 3));
  EXPECT_THAT(winners({-0., 0}), ElementsAre(0));
}

TEST(SelectWindow, ScatterAddsAtTheWinners) {
  auto scatter = [](Window w, std::vector<double> values, std::vector<double> x) {
    return testing::values(
        eval(rows::SelectAndScatter, selects(std::move(w)), {f64(values), f64(x)}));
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(scatter(line(2), {1, 10, 100}, {1, 3, 2, 0}), ElementsAre(0, 11, 100, 0));
  EXPECT_THAT(scatter(line(2, 2), {1, 10}, {1, 1, 5, 0}), ElementsAre(1, 0, 10, 0));
  // Windows of nothing but padding have no winner.
  EXPECT_THAT(scatter(line(1, 1, 1, 1), {1, 10, 100}, {-kInf}), ElementsAre(10));
  EXPECT_EQ(
      eval(rows::SelectAndGather, selects(line(1, 1, 1, 0)), {f64({7}), f64({-kInf})}).element(0),
      0);
}

TEST(SelectWindow, Refusals) {
  const Type x = Type::get(DType::f32, {4}), y = Type::get(DType::f32, {3});
  EXPECT_EQ(refusal(rows::SelectAndGather, selects(line(2)), {x, x}), "");
  EXPECT_EQ(refusal(rows::SelectAndGather, selects(line(2)), {y, x}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::SelectAndScatter, selects(line(2)), {y, x}), "");
  EXPECT_EQ(refusal(rows::SelectAndScatter, selects(line(2)), {x, x}), "TL-SHAPE-001");
  EXPECT_EQ(refusal(rows::SelectAndScatter, selects(line(2)), {x}), "TL-ARITY-001");
  EXPECT_EQ(refusal(rows::SelectAndScatter, selects(line(2)), {x.with_dtype(DType::boolean), x}),
            "TL-DTYPE-004");
}

}  // namespace
}  // namespace tlaloc::ops
