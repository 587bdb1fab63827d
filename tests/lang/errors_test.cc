// Mistakes that only running shows: code, both shapes with axis names, the user's line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tlaloc/lang/place.h"
#include "tlaloc/tlaloc.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

inline constexpr tl::Axis<struct Batch> batch;
inline constexpr tl::Axis<struct Hidden, 4> hidden;
using Any = tl::Tensor<float, tl::any>;

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const tl::Error& e) {
    return e.what();
  }
  return "no error";
}
std::string at(int line) { return "errors_test.cc:" + std::to_string(line) + ": "; }
Any any_of(std::int64_t n) {
  return Any::from(std::vector<float>(static_cast<std::size_t>(n)), {n});
}

TEST(Errors, AnyAxesAreCheckedWhenTheyMeet) {
  const Any x = any_of(3), y = any_of(4);
  const int line = __LINE__ + 1;
  const std::string text = error_of([&] { x + y; });
  EXPECT_THAT(text, HasSubstr("TL-SHAPE-001: add: 3 meets 4: f32[3] and f32[4]"));
  if (tlaloc::core::can_find_places()) {
    EXPECT_THAT(text, HasSubstr(at(line)));
  }
}

TEST(Errors, AnyIsCheckedWhereItGetsATypeAgain) {
  const Any x = any_of(3);
  const int line = __LINE__ + 1;
  const std::string text = error_of([&] { const tl::Tensor<float, hidden> h = x; });
  EXPECT_THAT(text, AllOf(HasSubstr(at(line)), HasSubstr("TL-SHAPE-002"),
                          HasSubstr("f32[3] is not f32[Hidden=4]: axis 0 is 3")));
}

TEST(Errors, NamesComeBackWithTheType) {
  const tl::Tensor<float, tl::any, tl::any> x =
      tl::Tensor<float, tl::any, tl::any>::from(std::vector<float>(8), {2, 4});
  const tl::Tensor<float, batch, hidden> named = x;
  const auto other = tl::Tensor<float, tl::any, tl::any>::from(std::vector<float>(12), {3, 4});
  EXPECT_THAT(
      error_of([&] { named + other; }),
      HasSubstr("TL-SHAPE-001: add: Batch=2 meets 3: f32[Batch=2, Hidden=4] and f32[3, 4]"));
}

TEST(Errors, ConstraintsOfATraceAreCheckedWhenItRuns) {
  int line = 0;
  auto f = tl::jit([&](Any x, Any y) {
    line = __LINE__ + 1;
    return tl::sum(tl::maximum(x, y));
  });
  f(any_of(3), any_of(3));
  const std::string text = error_of([&] { f(any_of(3), any_of(4)); });
  EXPECT_THAT(text, AllOf(HasSubstr(at(line)), HasSubstr("TL-SHAPE-001"), HasSubstr("max")));
}

TEST(Errors, OneAxisHasOneSizePerCall) {
  using Vector = tl::Tensor<float, batch>;
  auto f = tl::jit([](Vector x, Vector y) { return tl::sum(x * y); });
  const auto v = [](std::int64_t n) {
    return Vector::from(std::vector<float>(static_cast<std::size_t>(n)), {n});
  };
  EXPECT_THAT(error_of([&] { f(v(2), v(3)); }),
              HasSubstr("TL-SHAPE-011: jit: axis Batch is 2 in argument 0 and 3 in argument 1"));
}

TEST(Errors, TracedValuesHaveNoNumbers) {
  int line = 0;
  const auto f = [&](tl::Scalar<float> x) {
    line = __LINE__ + 1;
    return x * x.item();
  };
  const std::string text = error_of([&] { tl::grad(f)(tl::Scalar<float>(1)); });
  EXPECT_THAT(text,
              AllOf(HasSubstr(at(line)), HasSubstr("TL-TRACE-001"), HasSubstr("use cond, select")));
  const auto g = [&](tl::Tensor<float, batch> x) {
    return tl::sum(x) * static_cast<float>(x.size(0));
  };
  EXPECT_THAT(
      error_of([&] { tl::grad(g)(tl::Tensor<float, batch>::from(std::vector<float>(2), {2})); }),
      AllOf(HasSubstr("TL-TRACE-001"), HasSubstr("axis 0 of f32[Batch]")));
}

TEST(Errors, ValuesDoNotOutliveTheirTrace) {
  tl::Scalar<float> kept;
  tl::grad([&](tl::Scalar<float> x) { return kept = x * x; })(tl::Scalar<float>(1));
  EXPECT_THAT(error_of([&] { tl::exp(kept); }), HasSubstr("TL-TRACE-003"));
}

TEST(Errors, EmptyTensorsAreNamedByTheirPath) {
  struct Model {
    tl::Scalar<float> w, b;
  };
  const auto f = [](const Model& m, tl::Scalar<float> x) { return m.w * x + m.b; };
  EXPECT_THAT(error_of([&] { tl::grad(f)(Model{tl::Scalar<float>(1), {}}, tl::Scalar<float>(1)); }),
              HasSubstr("TL-VALUE-001: grad: argument 0: b is a tensor without a value"));
}

TEST(Errors, RecursionThroughTracesEnds) {
  using S = tl::Scalar<double>;
  std::function<S(S)> f = [&](S x) {
    return tl::cond(x > 0.0, [&] { return f(x - 1.0); }, [&] { return x; });
  };
  EXPECT_THAT(error_of([&] { tl::grad([&](S x) { return f(x); })(3.0); }),
              HasSubstr("TL-TRACE-006: trace: traces nest deeper than 256"));
  EXPECT_EQ(tl::grad([](S x) { return x * x; })(3.0).item(), 6);
}

/// Static objects die after what belongs to the thread.
struct TracesAtExit {
  ~TracesAtExit() {
    const double slope = tl::grad([](tl::Scalar<double> x) { return 2.0 * x * x; })(3.0).item();
    if (slope != 12) std::abort();
  }
} traces_at_exit;

tl::Array array(std::vector<float> values, std::initializer_list<std::int64_t> extents) {
  return tl::Array::from<float>(values, extents);
}

TEST(Errors, ArraysAreCheckedAsTensorsAre) {
  // No type knows these shapes: what a tensor's type refuses, an array's value does.
  const tl::Array scalar = array({1}, {}), row = array({1, 2, 3}, {3});
  const tl::Array ints = tl::cast<int>(row);
  EXPECT_THAT(error_of([&] { tl::layer_norm(scalar); }),
              HasSubstr("TL-RANK-001: layer_norm: f32[]"));
  EXPECT_THAT(error_of([&] { tl::rms_norm(scalar); }), HasSubstr("TL-RANK-001: rms_norm"));
  EXPECT_THAT(error_of([&] { tl::rope(scalar, ints); }), HasSubstr("TL-RANK-001: rope"));
  EXPECT_THAT(error_of([&] { tl::max_pool<2>(row); }),
              HasSubstr("TL-RANK-001: max_pool: f32[3] has no spatial axis"));
  EXPECT_THAT(error_of([&] { tl::mean(ints); }), HasSubstr("TL-DTYPE-003: mean: i32[3]"));
  EXPECT_THAT(error_of([&] { tl::tile<2, 2>(row); }), HasSubstr("TL-RANK-001: tile: 2 counts"));
  EXPECT_THAT(error_of([&] { array({1}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}); }),
              HasSubstr("TL-RANK-002"));
}

TEST(Errors, NamesInErrorsOfArrays) {
  const tl::Array row = array({1, 2, 3}, {3});
  EXPECT_THAT(error_of([&] { row* array({1, 2}, {2}); }),
              HasSubstr("TL-SHAPE-001: mul: 3 meets 2"));
  EXPECT_THAT(error_of([&] { row + tl::cast<int>(row); }), HasSubstr("TL-DTYPE-001: add: "));
  EXPECT_THAT(error_of([&] { tl::sum<-5>(row); }), HasSubstr("no such axis: -5: f32[3]"));
  EXPECT_THAT(error_of([&] { tl::softmax(array({1}, {})); }), HasSubstr("no such axis: -1: f32[]"));
  EXPECT_THAT(error_of([&] { tl::all_of(tl::cast<int>(row)); }),
              HasSubstr("TL-DTYPE-003: reduce_and: i32[3] has no bool elements"));
  EXPECT_THAT(error_of([&] { tl::max_pool<1, 1, -3>(array({1, 2}, {1, 2, 1})); }),
              HasSubstr("TL-SHAPE-007: max_pool"));
  EXPECT_THAT(error_of([&] { tl::conv1d<1, -5>(array({1, 2}, {1, 2, 1}), array({1}, {1, 1, 1})); }),
              HasSubstr("TL-SHAPE-007: conv"));
}

TEST(Errors, BroadcastChecksAxesThatTheTypeLeavesOpen) {
  const auto to_three = [](Any x) { return tl::sum(tl::broadcast_to<3>(x)); };
  EXPECT_EQ(tl::to_vector(tl::broadcast_to<3>(any_of(3))).size(), 3u);
  for (const std::int64_t n : {1, 2}) {
    const auto text = HasSubstr("TL-SHAPE-001: broadcast: " + std::to_string(n) + " meets 3");
    EXPECT_THAT(error_of([&] { to_three(any_of(n)); }), text);
    EXPECT_THAT(error_of([&] { tl::broadcast_to<2, 3>(any_of(n)); }), text);
    EXPECT_THAT(error_of([&] { tl::jit(to_three)(any_of(n)); }), HasSubstr("TL-SHAPE-001"));
  }
  EXPECT_EQ(tl::jit(to_three)(any_of(3)).item(), 0);
}

TEST(Errors, SqueezeNeedsSizeOne) {
  const auto drop = [](Any x) { return tl::squeeze<0>(x); };
  EXPECT_THAT(error_of([&] { drop(any_of(2)); }),
              HasSubstr("TL-SHAPE-010: squeeze: axis 0 of f32[2] has not size 1"));
  EXPECT_THAT(error_of([&] { tl::jit(drop)(any_of(2)); }), HasSubstr("axis 0"));
  EXPECT_EQ(tl::jit(drop)(any_of(1)).item(), 0);
}

TEST(Errors, LoopsKeepTheStructureOfTheirCarry) {
  using D = tl::Scalar<double>;
  using List = std::vector<D>;
  const auto grown = HasSubstr("TL-TREE-002: scan: the body returns another structure");
  const auto grow = [](List c) {
    c.push_back(D(7));
    return std::pair(c, D(1));
  };
  EXPECT_THAT(error_of([&] { tl::scan<3>(grow, List{D(5)}); }), grown);
  EXPECT_THAT(error_of([&] { tl::jit([&](D x) { return tl::scan<3>(grow, List{x}); })(D(5)); }),
              grown);
  const auto shrink = [](List c) {
    c.pop_back();
    return std::pair(c, D(1));
  };
  EXPECT_THAT(error_of([&] { tl::scan<3>(shrink, List{D(1), D(2)}); }), grown);
  const auto more = [](List c) {
    c.push_back(D(1));
    return c;
  };
  EXPECT_THAT(
      error_of([&] { tl::while_loop([](List c) { return c[0] < 3.0; }, more, List{D(0)}); }),
      HasSubstr("TL-TREE-002: while_loop: the body returns another structure"));
  EXPECT_THAT(error_of([&] {
                tl::while_loop([](List c) { return c[0] < 3.0; }, [](List c) { return c; },
                               List{D(0)}, -1);
              }),
              HasSubstr("TL-ATTR-001: while_loop: max_trips is negative"));
}

TEST(Errors, CondChecksBothBranches) {
  using D = tl::Scalar<double>;
  using List = std::vector<D>;
  const auto lists = [](D x) {
    return tl::cond(x < 1.0, [&] { return List{x}; }, [&] { return List{x, x}; })[0];
  };
  const auto sizes = [](D x) {
    return tl::cond(x < 1.0, [] { return any_of(1); }, [] { return any_of(2); });
  };
  for (const double x : {0.0, 2.0}) {
    EXPECT_THAT(error_of([&] { lists(D(x)); }), HasSubstr("TL-TREE-002: cond"));
    EXPECT_THAT(error_of([&] { tl::jit(lists)(D(x)); }), HasSubstr("TL-TREE-002: cond"));
    EXPECT_THAT(error_of([&] { sizes(D(x)); }), HasSubstr("TL-COND-002: cond"));
    EXPECT_THAT(error_of([&] { tl::jit(sizes)(D(x)); }), HasSubstr("TL-COND-002: cond"));
  }
}

TEST(Errors, ChecksOfGradients) {
  using S = tl::Scalar<double>;
  const auto square = [](S x) { return x * x; };
  const auto other_value = [](S x, S dx) { return std::pair(x * x + 1.0, 2.0 * x * dx); };
  EXPECT_THAT(
      error_of([&] { tl::check_grads(tl::custom_jvp(square, other_value))(2.0); }),
      HasSubstr("TL-GRAD-007: check_grads: with the forward derivative the function gives 5"));
  const auto forward = [](S x) { return std::pair(x * x + 1.0, x); };
  const auto backward = [](S x, S ct) { return 2.0 * x * ct; };
  EXPECT_THAT(error_of([&] { tl::check_grads(tl::custom_vjp(square, forward, backward))(2.0); }),
              HasSubstr("the function gives 5"));
  EXPECT_THAT(error_of([&] { tl::check_grads(square, {.order = 0})(2.0); }),
              HasSubstr("TL-ATTR-001: check_grads: order 0 checks nothing"));
}

TEST(Errors, PoliciesOfRemat) {
  const auto f = [](tl::Scalar<double> x) { return tl::sin(x); };
  EXPECT_THAT(error_of([&] { tl::remat(f, nullptr)(tl::Scalar<double>(1)); }),
              HasSubstr("TL-REMAT-001"));
}

TEST(Errors, NumbersMustFitIntegers) {
  const auto x = tl::Tensor<std::int8_t, 2>::from({1, 2});
  const int line = __LINE__ + 1;
  const std::string text = error_of([&] { x + 300; });
  EXPECT_THAT(text, HasSubstr("TL-DTYPE-004: number: 300 does not fit i8"));
  if (tlaloc::core::can_find_places()) {
    EXPECT_THAT(text, HasSubstr(at(line)));
  }
}

}  // namespace
