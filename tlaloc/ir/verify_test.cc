#include "tlaloc/ir/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tlaloc/ir/testdata/region_graphs.h"
#include "tlaloc/ir/testdata/round_trip.h"

namespace tlaloc::ir {
namespace {

using namespace test;
using testing::HasSubstr;

/// What verify says of g; empty when it is content.
std::string verdict(const Graph& g) {
  try {
    verify(g);
  } catch (const InternalError& e) {
    return e.what();
  }
  return "";
}

TEST(Verify, WellFormedGraphsPass) {
  for (const GraphRef& g :
       {graph_with_while(), graph_with_if(), graph_with_ragged_scan(), graph_with_calls()}) {
    EXPECT_EQ(verdict(*g), "");
    EXPECT_EQ(verdict(*round_trip(*g)), "");
  }
}

/// The text of a graph in which `from` stands once (or everywhere) and is replaced.
struct Fault {
  const char* from;
  const char* to;
  const char* rule;
};
void expect_faults(const Graph& g, std::span<const Fault> faults) {
  const std::string good = g.to_string();
  for (const Fault& f : faults) {
    std::string text = good;
    ASSERT_NE(text.find(f.from), std::string::npos) << f.from;
    for (std::size_t at = 0; (at = text.find(f.from, at)) != std::string::npos;) {
      text.replace(at, std::string_view(f.from).size(), f.to);
      at += std::string_view(f.to).size();
    }
    SCOPED_TRACE(text);
    EXPECT_THAT(verdict(*parse(text)), HasSubstr(f.rule));
  }
}

TEST(Verify, FaultsOfAWhile) {
  static constexpr Fault kFaults[] = {
      {"max_trips=0", "max_trips=-1", "max_trips is negative"},
      {"n_inv=1", "n_inv=2", "too few operands"},
      {"n_inv=1", "n_inv=-1", "too few operands"},
      {"n_inv=1, n_carry=1", "n_inv=9223372036854775807, n_carry=9223372036854775807",
       "too few operands"},
      {"n_inv=1", "n_inv=0", "another number of operands"},
      {"append=[{flat=false, length=none}]", "append=[]", "another number of results"},
      {"i64[]", "i32[]", "the trip count is an i64"},
      {"(bool[]) {\n      %2 = less(%1, %0) : bool[]", "(f32[]) {\n      %2 = add(%1, %0) : f32[]",
       "region 'cond' does not return one bool"},
      {"(bool[]) {\n      %2 = less(%1, %0) : bool[]\n      return %2",
       "(bool[], f32[]) {\n      %2 = less(%1, %0) : bool[]\n      return %2, %0",
       "region 'cond' returns 2 values, not 1"},
      {"cond graph (%0: f32[], %1: f32[])", "cond graph (%0: f32[], %1: f32[], %9: f32[])",
       "region 'cond' takes 3 values, is given 2"},
      {"body graph (%0: f32[], %1: f32[])", "body graph (%0: f32[], %1: f32[], %9: f32[])",
       "region 'body' takes 3 values, is given 2"},
      {"-> (f32[], f32[]) {", "-> {1} (f32[], f32[]) {", "region 'body' binds sizes"},
      {"-> (bool[]) {", "-> {1} (bool[]) {", "region 'cond' binds sizes"},
      {"f32[T]", "f32[]", "output 0 is f32[] inside, f32[] outside"},
      {"f32[T]", "f32[T, 2]", "output 0 is f32[] inside, f32[T, 2] outside"},
      {"f32[T]", "f64[T]", "output 0 is f32[] inside, f64[T] outside"},
      {"flat=false", "flat=true", "what is appended has a leading size that differs"},
  };
  expect_faults(*graph_with_while(), kFaults);
}

TEST(Verify, FaultsOfARaggedScan) {
  static constexpr Fault kFaults[] = {
      {"append=[{flat=false, length=none}, {flat=true, length=none}]",
       "append=[{flat=false, length=none}, {flat=false, length=none}]",
       "size T differs between iterations, so the output cannot be stacked"},
      {"append=[{flat=false, length=none}, {flat=true, length=none}]",
       "append=[{flat=true, length=none}, {flat=true, length=none}]",
       "what is appended has a leading size that differs"},
      {"while {T, N}", "while {T, N, M}", "a size is bound for each flat length and no other"},
      {"while {T, N}", "while {N, T}", "outside"},
      {"append=[{flat=true, length=N}]", "append=[{flat=true, length=none}]",
       "a flat length is not bound"},
      {"append=[{flat=true, length=N}]", "append=[{flat=false, length=none}]",
       "size L differs between iterations"},
      {"length=T, reverse", "length=-1, reverse", "the length is negative"},
      {"xs=0}", "xs=1}", "lengths are an i64 per iteration"},
      {"xs=0}", "xs=2}", "the lengths are not among the xs"},
      {"{dim=0", "{dim=1", "a ragged size is not an entry dim"},
      {"{dim=0", "{dim=-1", "a ragged size is not an entry dim"},
      {"{dim=0, xs=0}", "{dim=0, xs=0}, {dim=0, xs=0}", "two lists of lengths"},
      {"[{dim=0, xs=0}]", "[]", "a size of the body is neither given nor ragged"},
      {"{L=_}", "{L=T}", "a ragged size is given by the caller too"},
      {"xrag=[false, true]", "xrag=[true, true]", "lengths are an i64 per iteration"},
      {"xrag=[false, true]", "xrag=[false, false]", "xs 1 is f32[L] inside, f32[N] outside"},
      {"xrag=[false, true]", "xrag=[false]", "xrag says one thing per xs"},
      {"i64[T]", "i32[T]", "output 0 is i64[] inside, i32[T] outside"},
      {"n_inv=0, n_carry=1", "n_inv=0, n_carry=0", "xrag says one thing per xs"},
      {"-> (f32[], f32[L]) {", "-> {1} (f32[], f32[L]) {", "region 'body' binds sizes"},
  };
  expect_faults(*graph_with_ragged_scan(), kFaults);
}

TEST(Verify, FaultsOfAnIf) {
  static constexpr Fault kFaults[] = {
      {"less(%0, %0) : bool[]", "add(%0, %0) : f32[]", "the predicate is not bool"},
      {"if(%2, %x)", "if()", "the predicate is missing"},
      {"arg_owner=[-1]", "arg_owner=[]", "one owner per operand and per result"},
      {"out_owner=[-1]", "out_owner=[-1, 0]", "one owner per operand and per result"},
      {"out_owner=[-1]", "out_owner=[2]", "an owner is -1, 0 or 1"},
      {"arg_owner=[-1]", "arg_owner=[-2]", "an owner is -1, 0 or 1"},
      {"%3 = if(%2, %x)", "%3 = if(%2, %0)",
       "region 'then' operand 0 is f32[n] inside, f32[] outside"},
      {"{n=n}", "{n=n+1}", "region 'then' operand 0 is f32[n+1] inside, f32[n] outside"},
      {"then {n=n} graph {n in 2.. % 2} (%0: f32[n]) -> (f32[floordiv(n, 2)]) {",
       "then {n=n} graph {n in 2.. % 2} (%0: f32[n]) -> {n} (f32[floordiv(n, 2)]) {",
       "region 'then' binds another number of sizes"},
  };
  expect_faults(*graph_with_if(), kFaults);
}

TEST(Verify, OwnersFreeAResultFromTheOtherBranch) {
  // The else branch returns a filler of another size; the node binds T, which is 0 there.
  const std::string text = R"(graph (%p: bool[], %x: f32[], %y: f32[]) -> {D} (f32[D]) {
  %0 = if {D} (%p, %x, %y) {arg_owner=[-1, 0], out_owner=[0]} : f32[D]
    then graph (%x: f32[], %y: f32[]) -> {T} (f32[T]) {
      %0, %1, %2 = while {T} (%y, %x) {n_inv=1, n_carry=1, append=[{flat=false, length=none}], max_trips=0} : f32[], f32[T], i64[]
        cond graph (%0: f32[], %1: f32[]) -> (bool[]) {
          %2 = less(%1, %0) : bool[]
          return %2
        }
        body graph (%0: f32[], %1: f32[]) -> (f32[], f32[]) {
          return %1, %0
        }
      return %1
    }
    else graph (%x: f32[], %y: f32[]) -> {0} (f32[1]) {
      %0 = fill() {shape=[1]} : f32[1]
      return %0
    }
  return %0
})";
  EXPECT_EQ(verdict(*parse(text)), "");
  auto with = [&](const char* from, const char* to) {
    std::string s = text;
    s.replace(s.find(from), std::string_view(from).size(), to);
    return verdict(*parse(s));
  };
  // D may be 1: what is not owned is not refuted either.
  EXPECT_EQ(with("out_owner=[0]", "out_owner=[-1]"), "");
  EXPECT_THAT(with("-> {T} (f32[T])", "-> {3} (f32[T])"),
              HasSubstr("result 0: size T stays inside"));
  EXPECT_THAT(with("{0} (f32[1]) {\n      %0 = fill() {shape=[1]} : f32[1]",
                   "{0} (f32[1,1]) {\n      %0 = fill() {shape=[1, 1]} : f32[1,1]"),
              HasSubstr("region 'else' result 0 is f32[1, 1] inside, f32[D] outside"));
}

TEST(Verify, ABatchedPredicateWantsLanesInFront) {
  const std::string text = R"(graph {B, n} (%p: bool[B], %x: f32[B, n], %r: f32[7]) -> (f32[B, n]) {
  %0 = if(%p, %x, %r) {arg_owner=[-1, 0], out_owner=[-1]} : f32[B, n]
    then {B=B, n=n} graph {B, n} (%0: f32[B, n], %1: f32[7]) -> (f32[B, n]) {
      return %0
    }
    else {B=B, n=n} graph {B, n} (%0: f32[B, n], %1: f32[7]) -> (f32[B, n]) {
      return %0
    }
  return %0
})";
  EXPECT_EQ(verdict(*parse(text)), "");
  auto with = [&](const char* from, const char* to) {
    std::string s = text;
    s.replace(s.find(from), std::string_view(from).size(), to);
    return verdict(*parse(s));
  };
  EXPECT_THAT(with("%p: bool[B]", "%p: bool[2, 3, 4]"), HasSubstr("an operand lacks the lanes"));
  EXPECT_THAT(with("arg_owner=[-1, 0]", "arg_owner=[0, -1]"), testing::Not(HasSubstr("lacks")))
      << "f32[7] may have B = 7 lanes";
}

TEST(Verify, FaultsOfCalls) {
  static constexpr Fault kFaults[] = {
      {"kind=custom_jvp, n_residuals=0", "kind=custom_jvp, n_residuals=1",
       "another number of residuals"},
      {"kind=linear, n_residuals=1", "kind=linear, n_residuals=3", "another number of residuals"},
      {"kind=linear, n_residuals=1", "kind=linear, n_residuals=-1", "another number of residuals"},
      {"kind=linear, n_residuals=1", "kind=linear, n_residuals=0",
       "region 'bwd' takes 2 values, is given 1"},
      {"jvp {n=m} graph {n} (%0: f32[n], %1: f32[n])",
       "jvp {n=m} graph {n} (%0: f32[n], %1: f32[n], %9: f32[n])", "region 'jvp' takes 3 values"},
      {"jvp {n=m} graph {n} (%0: f32[n], %1: f32[n])",
       "jvp {n=m} graph {n} (%0: f32[n], %1: f64[n])", "region 'jvp' operand 1 is f64[m] inside"},
      {"jvp {n=m}", "jvp {n=m+1}", "region 'jvp' operand 0 is f32[m+1] inside, f32[m] outside"},
      {"fwd {n=m} graph {n} (%0: f32[n]) -> (f32[n], f32[n]) {\n      %1 = sin(%0) : f32[n]\n      "
       "return %1, %0",
       "fwd {n=m} graph {n} (%0: f32[n]) -> () {\n      %1 = sin(%0) : f32[n]\n      return",
       "region 'fwd' returns fewer values than the callee"},
      {"fwd {n=m} graph {n} (%0: f32[n]) -> (f32[n], f32[n]) {\n      %1 = sin(%0) : f32[n]\n      "
       "return %1, %0",
       "fwd {n=m} graph {n} (%0: f32[n]) -> (f32[n]) {\n      %1 = sin(%0) : f32[n]\n      return "
       "%1",
       "region 'bwd' takes 2 values, is given 1"},
      {"lin {n=m} graph {n} (%0: f32[n], %1: f32[n])",
       "lin {n=m} graph {n} (%0: f32[n], %1: f32[n], %9: f32[])", "region 'lin' takes 3 values"},
      {"callee {n=m} graph {n} (%0: f32[n])", "callee {n=2*m+1} graph {n % 2} (%0: f32[n])",
       "region 'callee' is built on other bounds of size 'n'"},
      {"callee {n=m} graph {n} (%0: f32[n])", "callee {n=_} graph {n} (%0: f32[n])",
       "region 'callee' needs size 'n'"},
      {"callee {n=m} graph {n} (%0: f32[n])", "callee {n=m+1} graph {n} (%0: f32[n])",
       "region 'callee' operand 0 is f32[m+1] inside, f32[m] outside"},
  };
  expect_faults(*graph_with_calls(), kFaults);
}

TEST(Verify, IntegersHaveNoTangents) {
  const std::string text = R"(graph (%x: f32[], %i: i64[]) -> (f32[], i64[]) {
  %0, %1 = call(%x, %i) {name="f", kind=custom_jvp, n_residuals=0, policy="", params=[], version=0} : f32[], i64[]
    callee graph (%x: f32[], %i: i64[]) -> (f32[], i64[]) {
      return %x, %i
    }
    jvp graph (%x: f32[], %i: i64[], %dx: f32[]) -> (f32[], i64[], f32[]) {
      return %x, %i, %dx
    }
  return %0, %1
})";
  EXPECT_EQ(verdict(*parse(text)), "");
}

TEST(Verify, ResultDimsOfACallAreBoundByPosition) {
  const std::string text = R"(graph (%x: f32[], %y: f32[]) -> {A} (f32[A]) {
  %0 = call {A} (%x, %y) {name="f", kind=plain, n_residuals=0, policy="", params=[], version=0} : f32[A]
    callee graph (%x: f32[], %y: f32[]) -> {T} (f32[T]) {
      %0, %1, %2 = while {T} (%y, %x) {n_inv=1, n_carry=1, append=[{flat=false, length=none}], max_trips=0} : f32[], f32[T], i64[]
        cond graph (%0: f32[], %1: f32[]) -> (bool[]) {
          %2 = less(%1, %0) : bool[]
          return %2
        }
        body graph (%0: f32[], %1: f32[]) -> (f32[], f32[]) {
          return %1, %0
        }
      return %1
    }
  return %0
})";
  EXPECT_EQ(verdict(*parse(text)), "");
  std::string two = text;
  two.replace(two.find("{T} (f32[T]) {"), 14, "{T, 1} (f32[T]) {");
  EXPECT_THAT(verdict(*parse(two)), HasSubstr("region 'callee' binds another number of sizes"));
}

TEST(Verify, TypesAreWhatTheOpInfers) {
  auto of = [](const char* body) {
    return verdict(
        *parse(std::string("graph {n, m} (%x: f32[n], %y: f32[m], %z: f32[n, 2]) -> () {\n") +
               body + "\nreturn }"));
  };
  EXPECT_EQ(of("%0 = add(%x, %y) : f32[n]"), "");  // n and m may be equal: a constraint says so
  EXPECT_EQ(of("%0 = add(%x, %y) : f32[m]"), "");
  EXPECT_THAT(of("%0 = add(%x, %y) : f32[n, 1]"), HasSubstr("result 0 is inferred as f32[n]"));
  EXPECT_THAT(of("%0 = add(%x, %y) : f32[n+1]"), HasSubstr("result 0 is inferred as f32[n]"));
  EXPECT_THAT(of("%0 = add(%x, %y) : f64[n]"), HasSubstr("result 0 is inferred as f32[n]"));
  EXPECT_THAT(of("%0, %1 = add(%x, %y) : f32[n], f32[n]"), HasSubstr("another number of results"));
  EXPECT_THAT(of("%0 = add(%x) : f32[n]"), HasSubstr("TL-ARITY-001"));
  EXPECT_THAT(of("%0 = add(%x, %z) : f32[n]"), HasSubstr("TL-RANK-001"));
  EXPECT_THAT(of("%0 = slice(%x) {size=n+1} : f32[n+1]"), HasSubstr("n+1 is not at most n"));
  EXPECT_THAT(of("%0 = fill() {shape=[-1]} : f32[-1]"),
              HasSubstr("a size of a result is negative"));
  EXPECT_THAT(of("%0 = add(%x, %z) : f32[n]"), HasSubstr("%3 = add(%x, %z) : f32[n]"))
      << "the node is printed";
}

TEST(Verify, SizesAreBoundOnceAndBeforeTheyAreUsed) {
  const auto loop = graph_with_while();
  auto build = [&](bool before, bool twice) {
    Builder b;
    const Val x = b.param(f32({})), y = b.param(f32({}));
    const Symbol t = Symbol::fresh("T");
    const Node n = loop->node(0);
    const std::vector<Type> types{f32({}), f32({t}), Type::scalar(DType::i64)};
    const std::vector<Region> regions(n.regions().begin(), n.regions().end());
    auto use = [&] {
      b.append(kFill, make_attr(ShapeAttrs{{Dim(t)}}), {}, std::vector<Type>{f32({t})});
    };
    if (before) use();
    for (int i = 0; i < 1 + twice; ++i) {
      b.append(n.op(), n.attr(), Vals{y, x}, types, regions, {t});
    }
    if (!before) use();
    return b.build(Vals{x}, {.keep_dead = true});
  };
  EXPECT_EQ(verdict(*build(false, false)), "");
  EXPECT_THAT(verdict(*build(true, false)), HasSubstr("a size of the attributes is out of scope"));
  EXPECT_THAT(verdict(*build(false, true)), HasSubstr("a size is bound twice"));
}

TEST(Verify, AttributesAreOfTheOpsStruct) {
  Builder b;
  const Val x = b.param(f32({}));
  b.append(kFill, nullptr, {}, std::vector<Type>{f32({})});
  EXPECT_THAT(verdict(*b.build(Vals{x}, {.keep_dead = true})),
              HasSubstr("attributes of another op"));
  Builder c;
  c.append(kIf, make_attr(ShapeAttrs{}), {}, {});
  EXPECT_THAT(verdict(*c.build({}, {.keep_dead = true})), HasSubstr("attributes of another op"));
}

TEST(Verify, OperandsAreDefinedBeforeTheyAreUsed) {
  // The builder refuses already; the verifier's own check is for graphs made by other means.
  Builder b;
  const Val x = b.param(f32({}));
  Val later = x;
  later.id = 2;
  b.append(kSin, nullptr, Vals{later}, std::vector<Type>{f32({})});
  b.append(kSin, nullptr, Vals{x}, std::vector<Type>{f32({})});
  EXPECT_THROW(b.build(Vals{x}, {.keep_dead = true}), InternalError);
}

TEST(Verify, LabelsNameEachAxisOrNone) {
  EXPECT_THAT(verdict(*parse("graph (%x {a}: f32[2, 2]) -> () { return }")),
              HasSubstr("a label names 1 axes of f32[2, 2]"));
  EXPECT_THAT(verdict(*parse("graph (%x: f32[2, 2]) -> ({a, b, c}: f32[2, 2]) { return %x }")),
              HasSubstr("a label names 3 axes of f32[2, 2]"));
}

TEST(Verify, FaultsInsideARegionAreFound) {
  std::string text = graph_with_calls()->to_string();
  const std::string from = "%2 = sin(%0) : f32[n]";
  text.replace(text.find(from), from.size(), "%2 = sum(%0) : f32[n]");
  EXPECT_THAT(verdict(*parse(text)), HasSubstr("result 0 is inferred as f32[]"));
}

TEST(Verify, SharedRegionsAreVerifiedOnce) {
  // 40 levels that each call the next twice: visiting every path would take forever.
  GraphRef g = region({f32({})}, [](const Vals& v) { return Vals{sin(v[0])}; });
  for (int i = 0; i < 40; ++i) {
    g = region({f32({})}, [&](const Vals& v) {
      return Vals{call_graph({.name = "b"}, g, call_graph({.name = "a"}, g, v))};
    });
  }
  EXPECT_EQ(verdict(*g), "");
}

}  // namespace
}  // namespace tlaloc::ir
