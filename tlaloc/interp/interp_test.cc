// Ops, element types, sizes and in-place updates. Loops and branches: regions_test.cc.
#include "tlaloc/interp/interp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tlaloc/interp/testing.h"

namespace tlaloc::interp {
namespace {

using ir::Dim;
using ir::GraphRef;
using ir::Symbol;
using ir::Type;
using ir::Vals;
using ::testing::ElementsAre;
using namespace testing;  // NOLINT: short forms
using namespace ops;      // NOLINT: the operators

TEST(Interp, Elementwise) {
  const Symbol n = Symbol::fresh("n");
  const GraphRef g = graph({f64({n}), f64({n})}, [&](const Vals& p) -> Vals {
    return {p[0] * p[1] + 1.0, dim_value(Dim(n) * 2), select(p[0] < p[1], p[0], -p[1])};
  });
  EXPECT_THAT(texts(run(*g, {f64s({1, 2, 3}), f64s({4, 1, 6})})),
              ElementsAre("f64[3] {5, 3, 19}", "i64[] {6}", "f64[3] {1, -1, 3}"));
}

TEST(Interp, ShapesAndSums) {
  const Symbol m = Symbol::fresh("m"), n = Symbol::fresh("n");
  const GraphRef g = graph({f64({m, n})}, [&](const Vals& p) -> Vals {
    const std::int64_t swap[] = {1, 0}, first[] = {0}, both[] = {0, 1};
    const Dim flat[] = {Dim(m) * n};
    return {transpose(p[0], swap), reduce_sum(p[0], first), reduce_sum(p[0], both),
            reshape(p[0], flat), iota(i64({m, n}), 1)};
  });
  EXPECT_THAT(texts(run(*g, {array<double>({2, 3}, {1, 2, 3, 4, 5, 6})})),
              ElementsAre("f64[3, 2] {1, 4, 2, 5, 3, 6}", "f64[3] {5, 7, 9}", "f64[] {21}",
                          "f64[6] {1, 2, 3, 4, 5, 6}", "i64[2, 3] {0, 1, 2, 0, 1, 2}"));
  EXPECT_THAT(
      texts(run(*g, {HostArray(DType::f64, {0, 3})})),
      ElementsAre("f64[3, 0] {}", "f64[3] {0, 0, 0}", "f64[] {0}", "f64[0] {}", "i64[0, 3] {}"));
}

TEST(Interp, BroadcastsRankZeroAndLeadingAxes) {
  const Symbol n = Symbol::fresh("n");
  const GraphRef g = graph({f64(), f64({n})}, [&](const Vals& p) -> Vals {
    const Dim shape[] = {2, n};
    return {p[0] + p[1], broadcast_to(p[1], shape)};
  });
  EXPECT_THAT(texts(run(*g, {HostArray::scalar(1.0), f64s({4, 5})})),
              ElementsAre("f64[2] {5, 6}", "f64[2, 2] {4, 5, 4, 5}"));
}

template <class T>
T narrow_sum(DType dtype, std::initializer_list<float> terms) {
  std::vector<HostArray> args;
  std::vector<Type> types;
  for (float t : terms) {
    args.push_back(HostArray::scalar(T(t)));
    types.push_back(scalar_type(dtype));
  }
  const GraphRef g = graph(types, [](const Vals& p) -> Vals {
    ir::Val sum = p[0];
    for (std::size_t i = 1; i < p.size(); ++i) sum = sum + p[i];
    return {sum};
  });
  return run(*g, args)[0].template as<T>()[0];
}

TEST(Interp, NarrowFloatsRoundAtEachOp) {
  // Half a unit in the last place twice: lost one by one, kept if rounding came at the end.
  EXPECT_EQ(float(narrow_sum<BFloat16>(DType::bf16, {1, 0x1p-8f, 0x1p-8f})), 1.0f);
  EXPECT_EQ(float(narrow_sum<BFloat16>(DType::bf16, {0x1p-8f, 0x1p-8f, 1})), 1.0f + 0x1p-7f);
  EXPECT_EQ(float(narrow_sum<Half>(DType::f16, {1, 0x1p-11f, 0x1p-11f})), 1.0f);
  EXPECT_EQ(float(narrow_sum<Half>(DType::f16, {0x1p-11f, 0x1p-11f, 1})), 1.0f + 0x1p-10f);
  EXPECT_EQ(float(narrow_sum<Half>(DType::f16, {65504, 65504})),
            std::numeric_limits<float>::infinity());
}

TEST(Interp, IntegersWrapAndDivide) {
  const Type t = Type::get(DType::i8, {4});
  const GraphRef g = graph({t, t}, [](const Vals& p) -> Vals {
    return {p[0] + p[1], p[0] * p[1], p[0] / p[1], -p[0], convert(p[0], DType::u8)};
  });
  const HostArray a = vec<std::int8_t>({127, -128, 7, -7}), b = vec<std::int8_t>({1, -1, 0, 2});
  EXPECT_THAT(texts(run(*g, {a, b})),
              ElementsAre("i8[4] {-128, 127, 7, -5}", "i8[4] {127, -128, 0, -14}",
                          "i8[4] {127, -128, -1, -3}", "i8[4] {-127, -128, -7, 7}",
                          "u8[4] {127, 128, 7, 249}"));
}

TEST(Interp, ConvertSaturatesAndTruncates) {
  const GraphRef g = graph({f64({5})}, [](const Vals& p) -> Vals {
    return {convert(p[0], DType::i32), convert(p[0], DType::boolean), convert(p[0], DType::f16)};
  });
  EXPECT_THAT(
      texts(run(*g, {f64s({-1.9, 1e300, NAN, 0, 1})})),
      ElementsAre("i32[5] {-1, 2147483647, 0, 0, 1}", "bool[5] {true, true, true, false, true}",
                  "f16[5] {-1.9003906, inf, nan, 0, 1}"));
}

TEST(Interp, ResultsMayRepeatAndBeParams) {
  const GraphRef g =
      graph({f64(), f64()}, [](const Vals& p) -> Vals { return {p[1], p[1], p[1] * p[1]}; });
  EXPECT_THAT(texts(run(*g, {HostArray::scalar(1.0), HostArray::scalar(3.0)})),
              ElementsAre("f64[] {3}", "f64[] {3}", "f64[] {9}"));
}

// ---- in place ----

TEST(Interp, LastUseIsUpdatedInPlace) {
  const GraphRef g = graph({f64({3})}, [](const Vals& p) -> Vals { return {exp(-p[0])}; });
  std::vector<HostArray> args{f64s({0, 0, 0})};
  const void* buffer = args[0].data();
  EXPECT_EQ(run(*g, std::move(args))[0].data(), buffer);
}
TEST(Interp, HeldValuesAreNotOverwritten) {
  const HostArray held = f64s({1, 2});
  const GraphRef g = graph({f64({2})}, [](const Vals& p) -> Vals { return {-p[0], p[0]}; });
  EXPECT_THAT(texts(run(*g, {held})), ElementsAre("f64[2] {-1, -2}", "f64[2] {1, 2}"));
  EXPECT_EQ(to_string(held), "f64[2] {1, 2}");
  const GraphRef twice = graph({f64({2})}, [](const Vals& p) -> Vals { return {p[0] + p[0]}; });
  EXPECT_THAT(texts(run(*twice, {f64s({1, 2})})), ElementsAre("f64[2] {2, 4}"));
}
TEST(Interp, ConstantsStayWhatTheyAre) {
  const GraphRef g = graph({}, [](const Vals&) -> Vals { return {-constant(f64s({1, 2}))}; });
  for (int i = 0; i < 2; ++i) EXPECT_THAT(texts(run(*g, {})), ElementsAre("f64[2] {-1, -2}"));
}

// ---- size and memory ----

TEST(Interp, MillionNodes) {
  const int count = 1'000'000;
  const GraphRef g = graph({f64()}, [&](const Vals& p) -> Vals {
    ir::Val x = p[0];
    for (int i = 0; i < count; ++i) x = sin(x);
    return {x};
  });
  Stats stats;
  const auto r = run(*g, {HostArray::scalar(1.0)}, {.stats = &stats});
  EXPECT_EQ(stats.nodes, count);
  EXPECT_EQ(stats.work, count);
  EXPECT_NEAR(r[0].element(0), std::sqrt(3.0 / count), 1e-5);
}

TEST(Interp, DeadValuesAreReleasedEarly) {
  // Each step's operand is released before the next one: a weak owner sees it go.
  const GraphRef g = graph({f64({2}), f64()}, [](const Vals& p) -> Vals {
    const std::int64_t all[] = {0};
    ir::Val s = reduce_sum(p[0], all);
    for (int i = 0; i < 100; ++i) s = s * p[1];
    return {s};
  });
  HostArray x = f64s({1, 2});
  const std::weak_ptr<const void> alive = x.owner();
  int polls = 0, alive_polls = 0;
  std::vector<HostArray> args{std::move(x), HostArray::scalar(1.0)};
  run(*g, std::move(args), {.cancelled = [&] {
    ++polls;
    alive_polls += !alive.expired();
    return false;
  }});
  EXPECT_EQ(polls, 101);
  EXPECT_EQ(alive_polls, 1);
}

}  // namespace
}  // namespace tlaloc::interp
