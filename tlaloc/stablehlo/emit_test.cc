#include "tlaloc/stablehlo/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_reduce.h"
#include "tlaloc/ops/val_system.h"

namespace tlaloc::stablehlo {
namespace {

using ir::Dim;
using ir::GraphRef;
using ir::Symbol;
using ir::Type;
using ir::Val;
using ir::Vals;
using ops::operator+, ops::operator-, ops::operator*, ops::operator<;
using ::testing::HasSubstr;
using ::testing::Not;

GraphRef graph(const std::vector<Type>& params, const std::function<Vals(const Vals&)>& f) {
  ir::Builder b("test");
  Vals p;
  for (Type t : params) p.push_back(b.param(t));
  return b.build(f(p));
}
template <class F>
std::string error_of(const char* code, F f) {
  try {
    f();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), code);
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(Text, ConstantsAreExact) {
  EXPECT_EQ(constant_text(HostArray::scalar(0.5f)), "dense<5.000000e-01> : tensor<f32>");
  EXPECT_EQ(constant_text(HostArray::scalar(0.1f)), "dense<0x3DCCCCCD> : tensor<f32>");
  EXPECT_EQ(constant_text(HostArray::scalar(-0.0)), "dense<-0.000000e+00> : tensor<f64>");
  EXPECT_EQ(constant_text(HostArray::scalar(std::numeric_limits<float>::infinity())),
            "dense<0x7F800000> : tensor<f32>");
  EXPECT_EQ(constant_text(HostArray::scalar(BFloat16(std::numeric_limits<float>::quiet_NaN()))),
            "dense<0x7FC0> : tensor<bf16>");
  const std::uint16_t words[] = {1, 0x2345};
  EXPECT_EQ(constant_text(HostArray::from(std::span<const std::uint16_t>(words), {2})),
            "dense<\"0x01004523\"> : tensor<2xui16>");
  HostArray flags(DType::boolean, {2, 1});
  flags.as_mutable<bool>()[1] = true;
  EXPECT_EQ(constant_text(flags), "dense<[[false], [true]]> : tensor<2x1xi1>");
  EXPECT_EQ(constant_text(HostArray(DType::i64, {0, 3})), "dense<> : tensor<0x3xi64>");
}

TEST(Emit, ASmallModule) {
  const Symbol n = Symbol::fresh("n");
  const auto g =
      graph({Type::get(DType::f32, {n})}, [](const Vals& p) -> Vals { return {ops::tanh(p[0])}; });
  const std::int64_t sizes[] = {3};
  EXPECT_EQ(emit(*g, sizes).text,
            "// Made by Tlaloc, for StableHLO 1.13.3 and later.\n"
            "module @test {\n"
            "  func.func public @main(%0: tensor<3xf32>) -> (tensor<3xf32>) {\n"
            "    %1 = \"stablehlo.tanh\"(%0) : (tensor<3xf32>) -> tensor<3xf32>\n"
            "    \"func.return\"(%1) : (tensor<3xf32>) -> ()\n"
            "  }\n"
            "}\n");
  EXPECT_EQ(emit(*g, sizes).text, emit(*g, sizes).text);
}

TEST(Emit, DonorsAndAliasesAreStated) {
  const auto g = graph({Type::get(DType::f32, {3}), Type::get(DType::f32, {3})},
                       [](const Vals& p) -> Vals { return {p[0] + p[1]}; });
  const std::string text = emit(*g, {}, {.donors = {0, 1}, .aliases = {{1, 0}}}).text;
  EXPECT_THAT(text, HasSubstr("%0: tensor<3xf32> {jax.buffer_donor = true}"));
  EXPECT_THAT(text, HasSubstr("%1: tensor<3xf32> {tf.aliasing_output = 0 : i32}"));
}

TEST(Emit, IndicesAreKeptInBoundsWhereThatIsAskedFor) {
  const Type x = Type::get(DType::f32, {7}), i = Type::get(DType::i64, {3});
  const auto taken =
      graph({x, i}, [](const Vals& p) -> Vals { return {ops::take(p[0], p[1], 0)}; });
  EXPECT_THAT(emit(*taken, {}).text, Not(HasSubstr("stablehlo.minimum")));
  EXPECT_THAT(emit(*taken, {}, {.in_bounds = true}).text, HasSubstr("stablehlo.minimum"));
  const auto added = graph({x, i, Type::get(DType::f32, {3})}, [](const Vals& p) -> Vals {
    return {ops::scatter_at(p[0], p[1], p[2], 0, ops::Update::add, ops::OutOfBounds::fill)};
  });
  EXPECT_THAT(emit(*added, {}).text, Not(HasSubstr("stablehlo.pad")));
  const std::string text = emit(*added, {}, {.in_bounds = true}).text;
  EXPECT_THAT(text, HasSubstr("edge_padding_high = array<i64: 1>"));
  EXPECT_THAT(text, HasSubstr("limit_indices = array<i64: 7>"));
}

GraphRef two_calls() {
  const Type t = Type::get(DType::f32, {3});
  const GraphRef inner = graph({t}, [](const Vals& p) -> Vals { return {ops::exp(p[0])}; });
  return graph({t}, [&](const Vals& p) -> Vals {
    const Vals once =
        ir::call_graph({.name = "my exp", .params = {{"axis", {1, 2}, {}}}}, inner, p);
    return ir::call_graph({.name = "my exp", .params = {{"axis", {1, 2}, {}}}}, inner, once);
  });
}
TEST(Emit, EqualCallsShareAFunction) {
  const std::string text = emit(*two_calls(), {}).text;
  EXPECT_THAT(text, HasSubstr("func.func private @my_exp_0"));
  EXPECT_THAT(text, Not(HasSubstr("@my_exp_1")));
  EXPECT_THAT(text, HasSubstr("\"func.call\"(%1) <{callee = @my_exp_0}>"));
}
TEST(Emit, CallsAsComposites) {
  const std::string text = emit(*two_calls(), {}, {.composites = true}).text;
  EXPECT_THAT(text, HasSubstr("\"stablehlo.composite\"(%0) <{name = \"tlaloc.my exp\", "
                              "composite_attributes = {axis = array<i64: 1, 2>}, "
                              "decomposition = @my_exp_0, version = 0 : i32}>"));
}

/// while (x < limit) { record x; x = x + 1 }
Vals counting(Val x, std::int64_t max_trips) {
  const Type t = Type::scalar(DType::f32);
  return ir::emit_while(
             {.init = {x},
              .cond = graph(
                  {t}, [](const Vals& b) -> Vals { return {b[0] < ops::scalar(9, DType::f32)}; }),
              .body = graph({t}, [](const Vals& b) -> Vals { return {b[0] + 1.0, b[0]}; }),
              .max_trips = max_trips})
      .out;
}
TEST(Emit, WhatALoopRecordsIsPaddedAndHasALength) {
  const auto g =
      graph({Type::scalar(DType::f32)}, [](const Vals& p) { return counting(p[0], 16); });
  const Emitted e = emit(*g, {});
  EXPECT_EQ(e.result_count, 3u);
  EXPECT_EQ(e.results[1].extents, Extents{16});
  ASSERT_EQ(e.lengths.size(), 1u);
  EXPECT_EQ(e.lengths[0].result, 1u);
  EXPECT_EQ(e.results[e.lengths[0].output].dtype, DType::i64);
  ASSERT_TRUE(e.exceeded.has_value());
  EXPECT_EQ(e.results[*e.exceeded].dtype, DType::boolean);
}
TEST(Emit, UnboundedHistoriesNeedABound) {
  const auto g = graph({Type::scalar(DType::f32)}, [](const Vals& p) { return counting(p[0], 0); });
  EXPECT_THAT(error_of("TL-BACKEND-001", [&] { emit(*g, {}); }),
              HasSubstr("give the loop max_trips"));
  EXPECT_EQ(emit(*g, {}, {.recorded_trips = 7}).results[1].extents, Extents{7});
}
TEST(Emit, WhatMixesElementsBehindALengthIsRefused) {
  const auto g = graph({Type::scalar(DType::f32)}, [&](const Vals& p) -> Vals {
    return {ops::cumsum(counting(p[0], 16)[1], 0)};
  });
  EXPECT_THAT(error_of("TL-BACKEND-001", [&] { emit(*g, {}); }),
              HasSubstr("cumsum: StableHLO can't say it: its operand"));
}

TEST(Emit, EffectsAndForeignCodeAreRefusedByName) {
  const Type t = Type::scalar(DType::f32);
  const auto prints = graph({t}, [](const Vals& p) -> Vals {
    ops::debug_print("{}", p);
    return p;
  });
  EXPECT_THAT(error_of("TL-BACKEND-001", [&] { check_emittable(*prints); }),
              HasSubstr("debug_print"));
  const auto calls =
      graph({t}, [&](const Vals& p) -> Vals { return ops::custom_call("mine", "", p, {t}); });
  EXPECT_THAT(error_of("TL-BACKEND-001", [&] { check_emittable(*calls); }),
              HasSubstr("custom_call"));
}
TEST(Emit, TwoMeshAxesAreRefused) {
  const auto g = graph({Type::scalar(DType::f32)}, [](const Vals& p) -> Vals {
    const Val a = ops::all_reduce(p[0], ops::Collective::sum, {"x", 2});
    return {ops::all_reduce(a, ops::Collective::max, {"y", 4})};
  });
  EXPECT_THAT(error_of("TL-BACKEND-001", [&] { emit(*g, {}); }), HasSubstr("'x' and 'y'"));
}
TEST(Emit, SizesThatTheGraphDoesNotAcceptAreRefused) {
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m");
  const auto g = graph({Type::get(DType::f32, {n}), Type::get(DType::f32, {m})},
                       [](const Vals& p) -> Vals { return {p[0] + p[1]}; });
  const std::int64_t sizes[] = {3, 4};
  error_of("TL-SHAPE-001", [&] { emit(*g, sizes); });
}

}  // namespace
}  // namespace tlaloc::stablehlo
