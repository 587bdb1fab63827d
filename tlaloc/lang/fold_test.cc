// Reductions and sorts by functions on elements.
#include "tlaloc/lang/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/graph_of.h"
#include "tlaloc/lang/jit.h"
#include "tlaloc/lang/join.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/math2.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/select.h"
#include "tlaloc/lang/sort_together.h"
#include "tlaloc/lang/source.h"
#include "tlaloc/lang/special.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::fold_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

inline constexpr Axis<struct Row> row;
using S = Scalar<double>;
template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}
template <class F>
std::string code_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return std::string(e.info().code);
  }
  return "";
}

// acc * 10 + x keeps the order of the elements.
const auto digits = [](auto acc, auto x) { return acc * 10 + x; };

TEST(ReduceBy, FoldsInOrderOverChosenAxes) {
  const auto m = Tensor<int, row, 3>::from({1, 2, 3, 4, 5, 6});
  const Tensor<int, row> rows = reduce<1>(digits, 0, m);
  EXPECT_THAT(values(rows), ElementsAre(123, 456));
  EXPECT_STREQ(core::axis(rows.ref(), 0).name, "Row");
  const Tensor<int, 3> columns = reduce(digits, 7, m, row);
  EXPECT_THAT(values(columns), ElementsAre(714, 725, 736));
  const Scalar<int> all = reduce(digits, 0, m);
  EXPECT_EQ(all.item(), 123456);
  EXPECT_EQ((reduce<1, 0>(digits, 0, m).item()), 123456);
}

TEST(ReduceBy, TuplesGoTogether) {
  const auto x = Tensor<float, row>::from({3, 8, 5});
  const auto at = Tensor<int, row>::from({10, 20, 30});
  const auto later = [](std::tuple<Scalar<float>, Scalar<int>> a,
                        std::tuple<Scalar<float>, Scalar<int>> b) {
    const auto wins = std::get<0>(b) > std::get<0>(a);
    return std::tuple(select(wins, std::get<0>(b), std::get<0>(a)),
                      select(wins, std::get<1>(b), std::get<1>(a)));
  };
  const auto [value, place] = reduce<0>(later, std::tuple(-1.0f, 0), std::tuple(x, at));
  static_assert(std::is_same_v<decltype(value), const Scalar<float>>);
  EXPECT_EQ(value.item(), 8);
  EXPECT_EQ(place.item(), 20);
}

TEST(ReduceBy, InEveryMode) {
  // A smooth fold that does not commute: the logarithm of a continued product.
  const auto f = [](Tensor<double, 2, 3> x, S start) {
    const double half = 0.5;  // a number may be captured
    return reduce<1>([=](S a, S b) { return a * exp(half * b) + sin(b); }, start, x);
  };
  const auto x = Tensor<double, 2, 3>::from({0.3, -0.7, 0.2, 1.1, 0.4, -0.2});
  const auto y = f(x, 0.25);
  EXPECT_EQ(values(jit(f)(x, 0.25)), values(y));
  check_grads(f, {.order = 2}, argnums<0, 1>)(x, 0.25);
  const auto both = stack<0>(x, x * 2);
  const auto mapped = vmap<0, unmapped>(f)(both, 0.25);
  EXPECT_EQ(values(mapped[0]), values(y));
  EXPECT_EQ(values(mapped[1]), values(f(x * 2, 0.25)));
  EXPECT_THAT(to_source(f)(x, 0.25), HasSubstr("std::exp"));
}

TEST(ReduceBy, RefusesWhatNoScalarFunctionIs) {
  const auto x = Tensor<double, 3>::from({1, 2, 3});
  const auto with_outer = [&](S factor) {
    return reduce([&](S a, S b) { return a + factor * b; }, 0.0, x);
  };
  EXPECT_EQ(with_outer(2.0).item(), 12);
  try {
    grad(with_outer)(2.0);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("TL-REGION-001: reduce: the function reads a traced value"));
  }
  EXPECT_EQ(code_of([&] { reduce([&](S a, S b) { return a + sum(b * x); }, 0.0, x); }),
            "TL-REGION-001");
  const Tensor<int, any> two = Tensor<int, 2>::from({1, 2});
  EXPECT_EQ(code_of([&] {
              reduce([](auto a, auto) { return a; }, std::tuple(0, 0),
                     std::tuple(two, Tensor<int, any>(Tensor<int, 3>::from({1, 2, 3}))));
            }),
            "TL-SHAPE-001");
}

TEST(ReduceWindowBy, StridesPaddingAndDilations) {
  const auto x = Tensor<int, 5>::from({1, 2, 3, 4, 5});
  EXPECT_THAT(values(reduce_window<Window{.size = 2}>(digits, 0, x)), ElementsAre(12, 23, 34, 45));
  EXPECT_THAT(values(reduce_window<Window{.size = 2, .stride = 2}>(digits, 0, x)),
              ElementsAre(12, 34));
  EXPECT_THAT(values(reduce_window<Window{.size = 3, .low = 1, .high = 1}>(digits, 9, x)),
              ElementsAre(9912, 9123, 9234, 9345, 9459));
  EXPECT_THAT(values(reduce_window<Window{.size = 2, .low = -2}>(digits, 0, x)),
              ElementsAre(34, 45));
  EXPECT_THAT(values(reduce_window<Window{.size = 2, .dilation = 3}>(digits, 0, x)),
              ElementsAre(14, 25));
  EXPECT_THAT(values(reduce_window<Window{.size = 2, .base_dilation = 2}>(digits, 0, x)),
              ElementsAre(10, 2, 20, 3, 30, 4, 40, 5));
  EXPECT_THAT(values(reduce_window<Window{.size = 3, .stride = 2, .same = true}>(digits, 0, x)),
              ElementsAre(12, 234, 450));
  EXPECT_THAT(values(reduce_window<Window{.size = 7}>(digits, 0, x)), ElementsAre());
}

TEST(ReduceWindowBy, KeepsAxesThatNoWindowMovesOver) {
  const auto x = Tensor<int, row, 4>::from({1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor<int, row, 3> y = reduce_window<Window{}, Window{.size = 2}>(digits, 0, x);
  EXPECT_THAT(values(y), ElementsAre(12, 23, 34, 56, 67, 78));
  const Tensor<int, any, 2> z =
      reduce_window<Window{.size = 2}, Window{.size = 2, .stride = 2}>(digits, 0, x);
  EXPECT_THAT(values(z), ElementsAre(1256, 3478));
  EXPECT_STREQ(core::axis(y.ref(), 0).name, "Row");
  EXPECT_EQ(core::axis(z.ref(), 0).name, nullptr);
  const Tensor<int, row, 4> same =
      reduce_window<Window{.size = 2, .same = true}, Window{}>(digits, 0, x);
  EXPECT_THAT(values(same), ElementsAre(15, 26, 37, 48, 50, 60, 70, 80));
}

TEST(ReduceWindowBy, InEveryMode) {
  using X = Tensor<double, 3, 4>;
  const auto smooth = [](X x) {
    return reduce_window<Window{.size = 2}, Window{.size = 3, .stride = 2, .low = 1, .high = 1}>(
        [](S a, S b) { return a * exp(b) + sin(b); }, 0.0, x);
  };
  const auto pooled = [](X x) {
    return reduce_window<Window{.size = 2}, Window{.size = 2, .stride = 2}>(
        [](S a, S b) { return maximum(a, b); }, -std::numeric_limits<double>::infinity(), x);
  };
  const auto x = X::from({0.3, -0.7, 0.2, 1.1, 0.4, -0.2, 0.9, -1.2, 0.6, 0.8, -0.4, 0.1});
  EXPECT_EQ(values(jit(smooth)(x)), values(smooth(x)));
  check_grads(smooth, {.order = 2})(x);
  check_grads(pooled)(x);
  const auto mapped = vmap<0>(smooth)(stack<0>(x, x * 2));
  EXPECT_EQ(values(mapped[1]), values(smooth(x * 2)));
  // A known reducer from its identity is the op for windows; any other one is gathered and folded.
  EXPECT_THAT(graph_of(pooled)(x), HasSubstr("reduce_window("));
  EXPECT_THAT(graph_of(smooth)(x), HasSubstr("gather("));
}

TEST(SortBy, SortsByTheComparator) {
  const auto x = Tensor<double, 5>::from({3, -1, 0.5, -2, 1});
  const auto by_size = [](auto a, auto b) { return abs(a) < abs(b); };
  EXPECT_THAT(values(sort_by(by_size, x)), ElementsAre(0.5, -1, 1, -2, 3));
  const auto f = [&](Tensor<double, 5> v) {
    return sort_by(by_size, v) * Tensor<double, 5>::from({1, 2, 3, 4, 5});
  };
  EXPECT_EQ(values(jit(f)(x)), values(f(x)));
  check_grads(f)(Tensor<double, 5>::from({3, -1, 0.5, -2, 1.5}));
  const auto mapped = vmap<0>(f)(stack<0>(x, x * -2));
  EXPECT_EQ(values(mapped[1]), values(f(x * -2)));
  EXPECT_THAT(to_source(f)(x), HasSubstr("std::abs"));
}

TEST(SortBy, RecordsOfATuple) {
  const auto id = Tensor<int, 2, 3>::from({1, 2, 3, 4, 5, 6});
  const auto score = Tensor<float, 2, 3>::from({0.5, 0.9, 0.9, 1, 3, 2});
  using Record = std::tuple<Scalar<int>, Scalar<float>>;
  // The best first, of equals the highest id.
  const auto [ids, scores] = sort_by<1>(
      [](Record a, Record b) {
        const auto [i, s] = a;
        const auto [j, t] = b;
        return s > t || (s == t && i > j);
      },
      std::tuple(id, score));
  EXPECT_THAT(values(ids), ElementsAre(3, 2, 1, 5, 6, 4));
  EXPECT_THAT(values(scores), ElementsAre(0.9f, 0.9f, 0.5f, 3, 2, 1));
}

}  // namespace
}  // namespace tlaloc::fold_test
