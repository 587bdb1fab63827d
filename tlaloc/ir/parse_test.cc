#include "tlaloc/ir/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "tlaloc/ir/testdata/region_graphs.h"
#include "tlaloc/ir/testdata/round_trip.h"

namespace tlaloc::ir {
namespace {

using namespace test;
using testing::HasSubstr;

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-TEXT-001");
    return e.what();
  }
  return "";
}

TEST(Parse, RegionsOfEachKindRoundTrip) {
  round_trip(*graph_with_while());
  round_trip(*graph_with_if());
  round_trip(*graph_with_ragged_scan());
  round_trip(*graph_with_calls());
}

TEST(Parse, AWhileLooksLikeThis) {
  EXPECT_EQ(graph_with_while()->to_string(),
            R"(graph @with_while (%x: f32[], %y: f32[]) -> {T} (f32[], f32[T], i64[]) {
  %2, %3, %4 = while {T} (%y, %x) {n_inv=1, n_carry=1, append=[{flat=false, length=none}], max_trips=0} : f32[], f32[T], i64[]
    cond graph (%0: f32[], %1: f32[]) -> (bool[]) {
      %2 = less(%1, %0) : bool[]
      return %2
    }
    body graph (%0: f32[], %1: f32[]) -> (f32[], f32[]) {
      %2 = add(%1, %0) : f32[]
      %3 = sin(%1) : f32[]
      return %2, %3
    }
  %5 = sin(%3) : f32[T]
  return %2, %5, %4
}
)");
}

TEST(Parse, AttributesOfEveryKindRoundTrip) {
  const Symbol n = Symbol::fresh("n");
  EverythingAttrs a;
  a.flag = true;
  a.integer = std::numeric_limits<std::int64_t>::min();
  a.real = std::numeric_limits<double>::quiet_NaN();
  using namespace std::string_literals;
  a.text = "quote \" slash \\ line \n tab \t nul \0 del \x7f, \xc3\xa9 // no comment"s;
  a.dtype = DType::bf16;
  a.dim = max(floordiv(Dim(n) - 3, 2) + 1, 0) + mod(Dim(n) * n, 7);
  a.type = Type::get(DType::f32, std::vector<Dim>{n, 64}, find_encoding("q8_0"));
  a.literal = {HostArray::from<std::int8_t>(std::vector<std::int8_t>{-128, 127}, {2, 1})};
  a.mode = Mode::wrap;
  a.flags = {true, false};
  a.reals = {-0.0, 0.1, 5e-324, std::numeric_limits<double>::max(),
             -std::numeric_limits<double>::infinity()};
  a.maybe = -7;
  a.windows = {{1, Dim(n) - 1}, {2, std::nullopt}};
  Builder b;
  const Val x = b.param(f32({n}));
  const GraphRef g = b.build(Vals{emit(kEverything, {x}, make_attr(a))});
  const GraphRef again = round_trip(*g);
  const auto& c = again->node(0).as<EverythingAttrs>();
  EXPECT_EQ(c.text, a.text);
  EXPECT_EQ(c.integer, a.integer);
  EXPECT_TRUE(std::signbit(c.reals[0]));
}

HostArray random_array(DType dtype, std::mt19937_64& random) {
  HostArray a(dtype, {1 + static_cast<std::int64_t>(random() % 7)});
  auto* bytes = static_cast<unsigned char*>(a.mutable_data());
  for (std::size_t i = 0; i < a.bytes(); ++i) {
    bytes[i] = static_cast<unsigned char>(random() >> 56);
    if (dtype == DType::boolean) bytes[i] &= 1;
  }
  return a;
}

TEST(Parse, ConstantsRoundTripToTheBit) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const HostArray a = random_array(static_cast<DType>(i % 13), random);
    Builder b;
    const GraphRef g = b.build(Vals{constant(a)});
    const GraphRef again = parse(g->to_string());
    ASSERT_TRUE(identical(again->node(0).as<ConstantAttrs>().value.value, a)) << g->to_string();
  }
}

TEST(Parse, SpecialFloatsOfEachType) {
  Builder b;
  Vals out;
  // All NaNs of f16, signalling ones too, and each kind of value.
  HostArray f16(DType::f16, {0x10000});
  for (int i = 0; i < 0x10000; ++i) f16.as_mutable<Half>()[i].bits = static_cast<std::uint16_t>(i);
  out.push_back(constant(f16));
  HostArray bf16(DType::bf16, {0x10000});
  for (int i = 0; i < 0x10000; ++i) {
    bf16.as_mutable<BFloat16>()[i].bits = static_cast<std::uint16_t>(i);
  }
  out.push_back(constant(bf16));
  using F = std::numeric_limits<float>;
  out.push_back(constant(
      HostArray::from<float>(std::vector<float>{F::infinity(), -F::infinity(), F::denorm_min(),
                                                F::max(), -0.0f, std::bit_cast<float>(0xff800001u)},
                             {2, 3})));
  const GraphRef g = b.build(out);
  const std::string text = g->to_string();
  EXPECT_THAT(text, HasSubstr("f32[2, 3]{inf, -inf, 1e-45, 3.4028235e+38, -0, nan(0xff800001)}"));
  EXPECT_TRUE(same_graph(*g, *parse(text)));
}

TEST(Parse, LargeUniformConstantsAreShort) {
  Builder b;
  const GraphRef g =
      b.build(Vals{constant(HostArray(DType::f32, {10, 100})), constant(HostArray(DType::f32, {8})),
                   constant(HostArray(DType::f32, {0, 4})), constant(HostArray::scalar(true))});
  const std::string text = g->to_string();
  EXPECT_THAT(text, HasSubstr("{value=f32[10, 100]{0 ...}}"));
  EXPECT_THAT(text, HasSubstr("{value=f32[8]{0, 0, 0, 0, 0, 0, 0, 0}}"));
  EXPECT_THAT(text, HasSubstr("{value=f32[0, 4]{}}"));
  EXPECT_THAT(text, HasSubstr("{value=bool[]{true}}"));
  round_trip(*g);
}

TEST(Parse, HandwrittenTextMayBeLoose) {
  const GraphRef g = parse(R"(
    // Numbers of values are only labels; blanks are free.
    graph @"any name at all" {n in 2.., m}
        (%x {batch, _}: f32[n, m], %7 "weights/0" {"in 0", "_"}: f32[n,m])
        -> {n} ("out" {batch, _}: f32[n, m], {a}: f32[m]) {
      %b = add(%x, %7) : f32[n, m]  // sums
      print(%b)
      %c = fill() {shape=[m+n-n]} : f32[m]
      require n*2 <= floordiv(m, 3) "text" at "a file.cc":12
      return %b, %c
    })");
  EXPECT_EQ(g->name(), "any name at all");
  EXPECT_EQ(g->param_label(1).name, "weights/0");
  EXPECT_EQ(g->param_label(1).axes, (std::vector<std::string>{"in 0", "_"}));
  EXPECT_EQ(g->param_label(0).axes[1], "");
  EXPECT_EQ(g->result_label(0).name, "out");
  EXPECT_EQ(g->result_label(1).axes[0], "a");
  EXPECT_EQ(g->dims()[0].facts().lower, 2);
  EXPECT_TRUE(g->has_effects());
  EXPECT_EQ(g->constraints()[0].what, "text");
  EXPECT_EQ(g->constraints()[0].place.line, 12);
  EXPECT_EQ(g->node(0).origin().name, "b");
  round_trip(*g);
}

TEST(Parse, NodesAreKeptExactlyAsWritten) {
  // Equal nodes, a double negation, dead work and a wrong type: nothing is improved.
  const GraphRef g = parse(R"(graph (%0: f32[]) -> (f32[]) {
    %1 = neg(%0) : f32[]
    %2 = neg(%1) : f32[]
    %3 = neg(%1) : f32[]
    %4 = sin(%0) : i8[3]
    require 3 == 4
    return %2
  })");
  EXPECT_EQ(g->node_count(), 4u);
  EXPECT_EQ(g->constraints().size(), 1u);
  round_trip(*g);
}

TEST(Parse, EntryDimsKeepTheirOrder) {
  // The order of first appearance would be m, n.
  const GraphRef g = parse("graph {n, m} (%0: f32[m], %1: f32[n]) -> () {\n  return\n}\n");
  EXPECT_EQ(g->dims()[0].name(), "n");
  round_trip(*g);
}

TEST(Parse, ATraceAroundDoesNotLeakIn) {
  Builder outer;
  OriginScope scope(Origin{.name = "outer"});
  const GraphRef g =
      parse("graph (%0: f32[]) -> (f32[]) {\n  %1 = sin(%0) : f32[]\n  return %1\n}\n");
  EXPECT_EQ(g->node(0).origin().name, "");
  EXPECT_EQ(&Builder::current(), &outer);
}

struct Mistake {
  const char* text;
  const char* error;
};
TEST(Parse, MistakesAreNamedWithTheirPlace) {
  static constexpr Mistake kMistakes[] = {
      {"", "<text>:1:1: TL-TEXT-001: parse: expected 'graph', found the end"},
      {"graf", "1:1: TL-TEXT-001: parse: expected 'graph', found 'graf'"},
      {"graph (%0: f32[n]) -> () { return }", "1:16: TL-TEXT-001: parse: unknown size 'n'"},
      {"graph {n} () -> () { return }", "1:7: TL-TEXT-001: parse: a size is declared here"},
      {"graph {n, n} (%0: f32[n]) -> () { return }", "1:11: TL-TEXT-001: parse: the size 'n' is d"},
      {"graph {n in 3..2} () -> () { return }", "1:8: TL-TEXT-001: parse: no size is within"},
      {"graph {n % 0} () -> () { return }", "1:8: TL-TEXT-001: parse: no size is within"},
      {"graph (%0: f33[]) -> () { return }",
       "1:12: TL-TEXT-001: parse: unknown element type 'f33'"},
      {"graph (%0: f32:q9[]) -> () { return }", "1:16: TL-TEXT-001: parse: unknown encoding 'q9'"},
      {"graph (%0: f32[]) -> () {\n  print(%1)\n  return }",
       "2:9: TL-TEXT-001: parse: '%1' is not"},
      {"graph (%0: f32[], %0: f32[]) -> () { return }",
       "1:19: TL-TEXT-001: parse: '%0' is defined"},
      {"graph (%0: f32[]) -> () {\n  %1 = zin(%0) : f32[] return }",
       "2:8: TL-TEXT-001: parse: unknown op 'zin'"},
      {"graph (%0: f32[]) -> (f32[2]) { return %0 }",
       "1:23: TL-TEXT-001: parse: result 0 is f32[], not f32[2]"},
      {"graph (%0: f32[]) -> (f32[]) { return %0, %0 }",
       "1:39: TL-TEXT-001: parse: 2 values are returned, the signature has 1"},
      {"graph (%0: f32[]) -> (f32[]", "1:28: TL-TEXT-001: parse: a bracket is not closed"},
      {"graph () -> () { return } x", "1:27: TL-TEXT-001: parse: expected the end"},
      {"graph () -> () { %0 = fill() : f32[] return }", "expected '{', found ':'"},
      {"graph () -> () { %0 = fill() {shape=[2, ]} : f32[2] return }",
       "1:41: TL-TEXT-001: parse: expected a size"},
      {"graph () -> () { %0 = fill() {shape=[floordiv(2, 0)]} : f32[2] return }",
       "1:38: TL-TEXT-001: parse: division of a size by zero"},
      {"graph () -> () { %0 = fill() {shape=[9223372036854775807]} : f32[2] return }",
       "1:38: TL-TEXT-001: parse: size arithmetic overflows 64 bits"},
      {"graph () -> () { %0 = fill() {shape=[99999999999999999999]} : f32[2] return }",
       "the integer does not fit 64 bits"},
      {"graph @\"a\nb\" () -> () { return }",
       "1:8: TL-TEXT-001: parse: the string does not end on its line"},
      {"graph @\"\\q\" () -> () { return }", "1:9: TL-TEXT-001: parse: unknown escape"},
      {"graph @\"\\x4\" () -> () { return }", "1:9: TL-TEXT-001: parse: '\\x' takes two"},
      {"graph () -> () { %0 = if() {arg_owner=[], out_owner=[]} : f32[] els graph",
       "expected 'then', found 'els'"},
      {"graph () -> () { require 1 == 1 at \"f\":0 return }",
       "1:40: TL-TEXT-001: parse: no such line"},
      {"graph () -> () { %0 = constant() {value=f32[2]{1}} : f32[2] return }",
       "1:41: TL-TEXT-001: parse: the array has 1 elements, its shape 2"},
      {"graph () -> () { %0 = constant() {value=i8[1]{128}} : i8[1] return }",
       "the integer does not fit i8"},
      {"graph () -> () { %0 = constant() {value=f32[1]{1e39}} : f32[1] return }",
       "the number is out of range"},
      {"graph () -> () { %0 = constant() {value=f16[1]{nan(0x7c00)}} : f16[1] return }",
       "not the bits of a NaN"},
      {"graph () -> () { %0 = constant() {value=c64[0]{}} : c64[0] return }",
       "complex element types"},
      {"graph () -> () { %0 = constant() {value=f32[-1]{}} : f32[1] return }", "negative extent"},
  };
  for (const Mistake& m : kMistakes) EXPECT_THAT(error_of(m.text), HasSubstr(m.error)) << m.text;
}

TEST(Parse, RegionSizesMustBeNamedAsTheGraphNamesThem) {
  std::string text = graph_with_if()->to_string();
  ASSERT_EQ(error_of(text), "");
  text.replace(text.find("then {n=n}"), 10, "then {m=n}");
  EXPECT_THAT(error_of(text), HasSubstr("these are not the sizes that the region's graph takes"));
}

TEST(Parse, DeclaredShapesAllocateNothing) {
  EXPECT_THAT(
      error_of("graph () -> () { %0 = constant() {value=f32[1000000000000]{0}} : f32[] return }"),
      HasSubstr("the array has 1 elements, its shape 1000000000000"));
  EXPECT_THAT(
      error_of(
          "graph () -> () { %0 = constant() {value=f32[1000000000000]{0 ...}} : f32[] return }"),
      HasSubstr("too large for a text"));
  // The budget is one for the whole text.
  std::string text = "graph () -> () {";
  for (int i = 0; i < 3; ++i) {
    text +=
        "%" + std::to_string(i) + " = constant() {value=u8[100000000]{7 ...}} : u8[100000000]\n";
  }
  EXPECT_THAT(error_of(text + "return }"), HasSubstr("3:"));
}

TEST(Parse, DepthIsBounded) {
  std::string deep = "graph () -> () { return }";
  for (int i = 1; i < 256; ++i) {
    deep =
        "graph () -> () { call() {name=\"\", kind=plain, n_residuals=0, policy=\"\", params=[], "
        "version=0} callee " +
        deep + " return }";
  }
  EXPECT_EQ(error_of(deep), "");
  deep =
      "graph () -> () { call() {name=\"\", kind=plain, n_residuals=0, policy=\"\", params=[], "
      "version=0} callee " +
      deep + " return }";
  EXPECT_THAT(error_of(deep), HasSubstr("graphs are nested too deeply"));
  std::string size = "n";
  for (int i = 0; i < 1000; ++i) size = "max(" + size;
  EXPECT_THAT(error_of("graph {n} (%0: f32[" + size + "]) -> () { return }"),
              HasSubstr("the size is nested too deeply"));
  EXPECT_THAT(error_of(std::string(100000, '{')), HasSubstr("expected 'graph'"));
}

TEST(Parse, MultiplyingOutIsBounded) {
  std::string factor = "floordiv(2*n+2*m+2*k, 2)", size = factor;
  for (int i = 0; i < 20; ++i) size += "*" + factor;
  EXPECT_THAT(error_of("graph {n, m, k} (%0: f32[" + size + "]) -> () { return }"),
              HasSubstr("too many terms"));
  size = "n";
  for (int i = 0; i < 20000; ++i) size += "*n";
  EXPECT_THAT(error_of("graph {n} (%0: f32[" + size + "]) -> () { return }"),
              HasSubstr("too many terms or factors"));
}

TEST(Parse, EveryPrefixOfATextIsRefused) {
  std::string text = graph_with_ragged_scan()->to_string();
  text.pop_back();  // the final newline may be missing
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_NE(error_of(text.substr(0, size)), "") << text.substr(0, size);
  }
}

}  // namespace
}  // namespace tlaloc::ir
