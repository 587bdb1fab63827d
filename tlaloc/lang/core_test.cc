// The untyped core: values, operations at once and in a trace, checks and the texts of errors.
#include "tlaloc/lang/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/lang/place.h"
#include "tlaloc/lang/trace_stack.h"

namespace tlaloc::core {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const int kBatchTag = 0, kHiddenTag = 0;
AxisSpec batch(std::int64_t size = -1) {
  return {.name = "batch", .size = size, .tag = &kBatchTag};
}
AxisSpec hidden(std::int64_t size) { return {.name = "hidden", .size = size, .tag = &kHiddenTag}; }
AxisSpec dim(std::int64_t size) { return {.size = size}; }

Ref floats(std::vector<std::int64_t> extents, std::vector<float> values) {
  return from_memory(DType::f32, extents, values.data(), static_cast<std::int64_t>(values.size()),
                     Where::current());
}
std::vector<float> values(const Ref& x) {
  const auto* p = static_cast<const float*>(data(x, Where::current()));
  return {p, p + size(x, Where::current())};
}
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Core, AddsAtOnceAndBroadcasts) {
  const Ref x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Ref b = floats({3}, {10, 20, 30});
  const std::array axes{dim(2), dim(3)};
  const Ref y = binary(BinaryOp::add, x, std::array{0, 1}, b, std::array{1}, axes, {});
  EXPECT_FALSE(is_traced(y));
  EXPECT_THAT(values(y), ElementsAre(11, 22, 33, 14, 25, 36));
  const Ref s = binary(BinaryOp::mul, x, std::array{0, 1}, scalar(DType::f32, 2), {}, axes, {});
  EXPECT_THAT(values(s), ElementsAre(2, 4, 6, 8, 10, 12));
  const Ref c = binary(BinaryOp::gt, x, std::array{0, 1}, scalar(DType::f32, 3), {}, axes, {});
  EXPECT_EQ(dtype(c), DType::boolean);
  const Ref w =
      select(c, std::array{0, 1}, x, std::array{0, 1}, scalar(DType::f32, 0), {}, axes, {});
  EXPECT_THAT(values(w), ElementsAre(0, 0, 0, 4, 5, 6));
}

TEST(Core, ReducesAndReshapes) {
  const Ref x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(values(reduce(ReduceOp::sum, x, std::array{1}, false, std::array{dim(2)}, {})),
              ElementsAre(6, 15));
  const Ref kept = reduce(ReduceOp::sum, x, std::array{0}, true, std::array{dim(1), dim(3)}, {});
  EXPECT_EQ(rank(kept), 2);
  EXPECT_THAT(values(kept), ElementsAre(5, 7, 9));
  const Ref r = reshape(x, std::array{-1, -1}, std::array{dim(3), dim(-1)}, {});
  EXPECT_EQ(extent(r, 1, {}), 2);
  EXPECT_THAT(values(transpose(x, std::array{1, 0}, std::array{dim(3), dim(2)}, {})),
              ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(Core, RecordsWhenAnOperandIsTraced) {
  Trace trace("f");
  const ir::Symbol n = ir::Symbol::fresh("batch");
  const Ref x = trace.param(ir::Type::get(DType::f32, {ir::Dim(n), ir::Dim(3)}),
                            labels_of(std::array{batch(), dim(3)}), "x");
  const Ref y = binary(BinaryOp::add, x, std::array{0, 1}, floats({3}, {1, 2, 3}), std::array{1},
                       std::array{batch(), dim(3)}, {});
  EXPECT_TRUE(is_traced(y));
  EXPECT_EQ(describe(y), "f32[batch, 3]");
  const auto closed = trace.close(std::array{y});
  EXPECT_TRUE(closed.captures.empty());
  const auto out =
      interp::run(*closed.graph, {HostArray::from<float>(std::array{1.f, 1.f, 1.f}, {1, 3})});
  EXPECT_THAT(out[0].as<float>(), ElementsAre(2, 3, 4));
}

TEST(Core, CapturesLargeArraysOnce) {
  const Ref w = floats({20}, std::vector<float>(20, 2));
  Trace trace("f");
  const Ref x = trace.param(ir::Type::get(DType::f32, {20}));
  const std::array axes{dim(20)};
  const std::array same{0};
  Ref y = binary(BinaryOp::mul, x, same, w, same, axes, {});
  y = binary(BinaryOp::add, y, same, w, same, axes, {});
  const auto closed = trace.close(std::array{y});
  ASSERT_EQ(closed.captures.captured.size(), 1u);
  EXPECT_EQ(closed.graph->param_count(), 2u);
}

TEST(Core, InnerTracesLiftOuterValues) {
  Trace outer("outer");
  const Ref x = outer.param(ir::Type::scalar(DType::f32));
  ir::GraphRef inner_graph;
  Captures captures;
  {
    Trace inner("inner");
    const Ref y = inner.param(ir::Type::scalar(DType::f32));
    const Ref z = binary(BinaryOp::mul, x, {}, y, {}, {}, {});
    auto closed = inner.close(std::array{z});
    inner_graph = closed.graph;
    captures = closed.captures;
  }
  ASSERT_EQ(captures.lifted.size(), 1u);
  EXPECT_EQ(inner_graph->param_count(), 2u);
}

TEST(Core, ValuesAreCheckedAgainstTypes) {
  const Ref x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const Where here = Where::current();
  const std::array good{batch(), hidden(3)};
  EXPECT_EQ(describe(check(x, DType::f32, good, here)), "f32[batch=2, hidden=3]");
  const std::array bad{batch(), hidden(4)};
  EXPECT_THAT(error_of([&] { check(x, DType::f32, bad, here); }),
              AllOf(HasSubstr("core_test.cc:" + std::to_string(here.line()) + ": TL-SHAPE-002"),
                    HasSubstr("f32[2, 3] is not f32[batch, hidden=4]: axis 1 is 3")));
  EXPECT_THAT(error_of([&] { check(x, DType::f64, good, here); }), HasSubstr("TL-DTYPE-001"));
  EXPECT_THAT(error_of([&] { check(x, DType::f32, std::array{batch()}, here); }),
              HasSubstr("TL-RANK-001"));
  AxisSpec bounded = batch();
  bounded.bound = 1;
  EXPECT_THAT(error_of([&] { check(x, DType::f32, std::array{bounded, dim(3)}, here); }),
              HasSubstr("TL-BOUND-001: check: f32[2, 3] is not f32[batch<=1, 3]: axis 0 is 2"));
}

TEST(Core, MismatchNamesBothShapesAndTheUsersLine) {
  const Ref x =
      check(floats({2, 3}, {1, 2, 3, 4, 5, 6}), DType::f32, std::array{batch(), hidden(3)}, {});
  const Ref y = floats({2, 1}, {1, 2});
  const Ref z = floats({4, 3}, std::vector<float>(12));
  const std::array axes{batch(), hidden(3)};
  EXPECT_EQ(describe(binary(BinaryOp::add, x, std::array{0, 1}, y, std::array{0, -1}, axes, {})),
            "f32[batch=2, hidden=3]");
  EXPECT_THAT(
      error_of([&] { binary(BinaryOp::add, x, std::array{0, 1}, y, std::array{0, 1}, axes, {}); }),
      HasSubstr("TL-SHAPE-001: add: hidden=3 meets 1"));
  const Where here = Where::current();
  EXPECT_THAT(
      error_of(
          [&] { binary(BinaryOp::add, x, std::array{0, 1}, z, std::array{0, 1}, axes, here); }),
      HasSubstr("core_test.cc:" + std::to_string(here.line()) +
                ": TL-SHAPE-001: add: batch=2 meets 4: f32[batch=2, hidden=3] and f32[4, 3]"));
}

TEST(Core, OperatorsFindTheLineOnTheStack) {
  if (!can_find_places()) GTEST_SKIP() << "built without libdw";
  const Ref x = floats({2}, {1, 2}), y = floats({3}, {1, 2, 3});
  const std::array same{0};
  const std::array axes{dim(2)};
  const int line = __LINE__ + 1;
  const std::string text = error_of([&] { binary(BinaryOp::add, x, same, y, same, axes, {}); });
  EXPECT_THAT(text, HasSubstr("core_test.cc:" + std::to_string(line) + ": TL-SHAPE-001"));
}

TEST(Core, NothingAborts) {
  const Where here = Where::current();
  EXPECT_THAT(error_of([] { dtype(Ref()); }), HasSubstr("TL-VALUE-001"));
  const float one = 1;
  const auto make = [&](std::vector<std::int64_t> e) { from_memory(DType::f32, e, &one, 1, here); };
  EXPECT_THAT(error_of([&] { make({-1}); }), HasSubstr("TL-SIZE-001"));
  EXPECT_THAT(error_of([&] { make({1ll << 40, 1ll << 40}); }), HasSubstr("TL-SIZE-001"));
  EXPECT_THAT(error_of([&] { make({3}); }), HasSubstr("1 elements given, [3] holds 3"));
  EXPECT_THAT(error_of([&] { scalar_int(DType::i8, 300); }), HasSubstr("300 does not fit i8"));
  EXPECT_THAT(error_of([&] { item(floats({2}, {1, 2}), here); }), HasSubstr("TL-RANK-001"));
  EXPECT_THAT(error_of([&] { extent(floats({2}, {1, 2}), 3, here); }), HasSubstr("TL-AXIS-001"));
  EXPECT_THAT(
      error_of([&] { reduce(ReduceOp::sum, floats({2}, {1, 2}), std::array{5}, false, {}, here); }),
      HasSubstr("TL-AXIS-001"));
  EXPECT_THAT(
      error_of([&] { reshape(floats({2}, {1, 2}), std::array{-1}, std::array{dim(3)}, here); }),
      HasSubstr("f32[2] has 2 elements, which do not fit [3]"));
}

TEST(Core, TracedValuesAreNotReadAndEndedTracesAreErrors) {
  Ref kept;
  {
    Trace trace("f");
    kept = trace.param(ir::Type::scalar(DType::f32));
    EXPECT_THAT(error_of([&] { item(kept, Where::current()); }),
                AllOf(HasSubstr("TL-TRACE-001"), HasSubstr("use cond, select or while_loop")));
  }
  EXPECT_THAT(error_of([&] { unary(UnaryOp::exp, kept, {}, Where::current()); }),
              HasSubstr("TL-TRACE-003"));
}

}  // namespace
}  // namespace tlaloc::core
