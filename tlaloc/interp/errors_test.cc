// What the interpreter refuses, and the texts it refuses with.
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
using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace testing;  // NOLINT: short forms
using namespace ops;      // NOLINT: the operators

GraphRef sum_of_two() {
  const Symbol m = Symbol::fresh("m"), n = Symbol::fresh("n");
  ir::Builder b("sum");
  const ir::Val x = b.param(f64({m}), {.name = "x", .axes = {"batch"}});
  const ir::Val y = b.param(f64({n}), {.name = "y", .axes = {"heads"}});
  ir::OriginScope origin(ir::Origin{.place = {"model.cc", 12}});
  return b.build(Vals{x + y});
}

TEST(InterpErrors, ConstraintNamesBothAxes) {
  EXPECT_EQ(error_of([] { run(*sum_of_two(), {f64s({1, 2, 3}), f64s({1, 2})}); }),
            "model.cc:12: TL-SHAPE-001: add: axis 0: m = 3 (axis 0 'batch' of argument 0 'x') is "
            "not n = 2 (axis 0 'heads' of argument 1 'y'); pass arguments whose sizes agree");
  EXPECT_EQ(error_of([] { run(*sum_of_two(), {f64s({1, 2}), f64s({1, 2})}); }), "");
}

TEST(InterpErrors, ArgumentThatDoesNotFit) {
  const Symbol n = Symbol::fresh("n");
  ir::Builder b("f");
  const ir::Val x = b.param(f64({n}), {.name = "x", .axes = {"batch"}});
  const ir::Val y = b.param(f64({Dim(n) + 1}), {.name = "y"});
  const GraphRef g = b.build(Vals{x, y});
  EXPECT_EQ(error_of([&] { run(*g, {f64s({1, 2}), f64s({1, 2})}); }),
            "TL-SHAPE-002: f: argument 1 'y' is f64[2] where f64[n+1] is expected: axis 0 of "
            "argument 1 'y' has size 2, but n+1 = 3 (axis 0 of argument 1 'y')");
  EXPECT_THAT(error_of([&] { run(*g, {f64s({1, 2}), i64s({1, 2, 3})}); }),
              StartsWith("TL-SHAPE-002: f: argument 1 'y' is i64[3] where f64[n+1] is expected"));
  EXPECT_THAT(error_of([&] { run(*g, {f64s({1, 2})}); }),
              StartsWith("TL-ARITY-001: f: takes 2 arguments, 1 were given"));
}

TEST(InterpErrors, SizeThatNoArgumentDetermines) {
  const Symbol n = Symbol::fresh("n");
  const GraphRef g = graph({f64()}, [&](const Vals& p) -> Vals {
    const Dim shape[] = {n};
    return {broadcast_to(p[0], shape)};
  });
  EXPECT_THAT(error_of([&] { run(*g, {HostArray::scalar(1.0)}); }),
              HasSubstr("TL-SHAPE-004: no argument's shape determines the size 'n'"));
  EXPECT_EQ(to_string(run(*g, {HostArray::scalar(1.0)}, {.dims = {{n.id(), 2}}})[0]),
            "f64[2] {1, 1}");
}

TEST(InterpErrors, FactsOfSymbolsAreChecked) {
  const Symbol n = Symbol::fresh({.name = "n", .lower = 2, .upper = 8, .multiple_of = 2});
  const GraphRef g = graph({f64({n})}, [](const Vals& p) -> Vals { return {-p[0]}; });
  EXPECT_EQ(error_of([&] { run(*g, {f64s({1, 2})}); }), "");
  EXPECT_THAT(error_of([&] { run(*g, {f64s({1, 2, 3})}); }),
              HasSubstr("TL-SHAPE-005: n = 3 (axis 0 of argument 0) is not a multiple of 2"));
  EXPECT_THAT(error_of([&] { run(*g, {f64s({})}); }), HasSubstr("is below its bound of 2"));
  EXPECT_THAT(error_of([&] { run(*g, {HostArray(DType::f64, {10})}); }),
              HasSubstr("is above its bound of 8"));
}

TEST(InterpErrors, AbsurdSizes) {
  const Symbol n = Symbol::fresh("n");
  const GraphRef g = graph({f64()}, [&](const Vals& p) -> Vals {
    const Dim shape[] = {n, n, Dim(n) - 3};
    return {broadcast_to(p[0], shape)};
  });
  auto with = [&](std::int64_t size) {
    return error_of([&] { run(*g, {HostArray::scalar(1.0)}, {.dims = {{n.id(), size}}}); });
  };
  EXPECT_EQ(with(3), "");
  EXPECT_THAT(with(2),
              HasSubstr("TL-SIZE-001: broadcast_in_dim: the size n-3 of f64[n, n, n-3] is -1"));
  EXPECT_THAT(with(std::int64_t{1} << 40), HasSubstr("TL-SIZE-001"));
  EXPECT_THAT(with(std::int64_t{1} << 62), HasSubstr("TL-SIZE-001"));
  EXPECT_THAT(with(std::numeric_limits<std::int64_t>::max()), HasSubstr("TL-SIZE-001"));
}

TEST(InterpErrors, RuntimeShapeDefectIsInternal) {
  // Region dims that contradict the operand: only a faulty transform does that.
  const Symbol n = Symbol::fresh("n");
  const GraphRef inner = graph({f64({n})}, [](const Vals& p) -> Vals { return {-p[0]}; });
  const GraphRef g = graph({f64({3})}, [&](const Vals& p) -> Vals {
    ir::DimMap wrong;
    wrong.set(n, 4);
    const Type types[] = {f64({4})};
    return ir::emit_call({}, p, {ir::make_region(inner, wrong)}, types).out;
  });
  EXPECT_THAT(error_of([&] { run(*g, {f64s({1, 2, 3})}); }),
              HasSubstr("TL-INTERNAL-001: an argument is f64[3] where f64[n] = [4] is expected"));
}

// ---- NaN mode ----

TEST(InterpErrors, NanModeNamesTheFirstOp) {
  const GraphRef g = graph({f64({3})}, [](const Vals& p) -> Vals {
    ir::OriginScope origin(ir::Origin{.name = "loss", .place = {"model.cc", 7}});
    return {exp(log(p[0])) + 1.0};
  });
  const Options checked{.check_nan = true};
  EXPECT_EQ(error_of([&] { run(*g, {f64s({1, -1, 2})}, checked); }),
            "model.cc:7: TL-NAN-001: log: gave a NaN at [1] of f64[3], for 'loss'; no operand held "
            "one");
  EXPECT_THAT(error_of([&] { run(*g, {f64s({1, 2, 0})}, checked); }),
              HasSubstr("log: gave an infinity at [2]"));
  EXPECT_EQ(error_of([&] { run(*g, {f64s({1, -1, 2})}); }), "");
  EXPECT_EQ(error_of([&] { run(*g, {f64s({1, NAN, 2})}, checked); }), "");
}

TEST(InterpErrors, NanModeTellsNanFromInfinity) {
  const GraphRef g = graph({f64({1})}, [](const Vals& p) -> Vals { return {p[0] - p[0]}; });
  EXPECT_THAT(error_of([&] { run(*g, {f64s({INFINITY})}, {.check_nan = true}); }),
              HasSubstr("sub: gave a NaN"));
}

TEST(InterpErrors, NanModeAcceptsConstants) {
  const GraphRef g = graph({f64()}, [](const Vals& p) -> Vals {
    return {
        exp(select(p[0] < ops::scalar(0, DType::f64), p[0], ops::scalar(-INFINITY, DType::f64)))};
  });
  EXPECT_EQ(error_of([&] { run(*g, {HostArray::scalar(1.0)}, {.check_nan = true}); }), "");
}

TEST(InterpErrors, NanModeAndLanes) {
  // log runs in lanes that did not take the branch; only what was selected counts.
  const Type lane = f64({2}), mask = Type::get(DType::boolean, {2});
  const GraphRef then = graph({lane}, [](const Vals& p) -> Vals { return {log(p[0])}; });
  const GraphRef other = graph({lane}, [](const Vals& p) -> Vals {
    return {broadcast_to(ops::scalar(-INFINITY, DType::f64), p[0].shape())};
  });
  const GraphRef g = graph({mask, lane}, [&](const Vals& p) -> Vals {
    const Type types[] = {lane};
    return ir::emit_if(p[0], std::span(p).subspan(1), {{then, {}}, {other, {}}}, types).out;
  });
  auto error = [&](bool second) {
    return error_of(
        [&] { run(*g, {vec<bool>({true, second}), f64s({1, -1})}, {.check_nan = true}); });
  };
  EXPECT_EQ(error(false), "");
  EXPECT_THAT(error(true), HasSubstr("if: gave a NaN at [1]"));
}

// ---- cancel ----

TEST(InterpErrors, Cancel) {
  const GraphRef cond = graph({Type::get(DType::boolean, {})}, [](const Vals& p) { return p; });
  const GraphRef g = graph({Type::get(DType::boolean, {})}, [&](const Vals& p) -> Vals {
    return ir::emit_while({.inv = {}, .init = p, .cond = cond, .body = cond}).out;
  });
  int polls = 0;
  EXPECT_THAT(error_of([&] {
                run(*g, {HostArray::scalar(true)}, {.cancelled = [&] { return ++polls > 1000; }});
              }),
              HasSubstr("TL-CANCEL-001: the run was cancelled"));
  EXPECT_EQ(polls, 1001);
}

}  // namespace
}  // namespace tlaloc::interp
