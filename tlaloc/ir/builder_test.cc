#include "tlaloc/ir/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>

#include "tlaloc/ir/testdata/region_graphs.h"
#include "tlaloc/ir/verify.h"

namespace tlaloc::ir {
namespace {

using namespace test;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Builder, EqualNodesAreOneNode) {
  Builder b;
  const Val x = b.param(f32({2})), y = b.param(f32({2}));
  EXPECT_EQ(sin(x), sin(x));
  EXPECT_NE(sin(x), sin(y));
  EXPECT_EQ(add(x, y), add(y, x));
  EXPECT_NE(sub(x, y), sub(y, x));
  EXPECT_EQ(fill({3}), fill({3}));
  EXPECT_NE(fill({3}), fill({4}));
  EXPECT_NE(emit(kBarrier, {x}), emit(kBarrier, {x}));
  EXPECT_EQ(scalar(1), scalar(1));
  EXPECT_NE(scalar(0.0f), scalar(-0.0f));
  EXPECT_EQ(scalar(std::nanf("1")), scalar(std::nanf("1")));
}

TEST(Builder, CommutativeNodesKeepTheOrderFirstSeen) {
  Builder b;
  const Val x = b.param(f32({})), y = b.param(f32({}));
  add(y, x);
  const GraphRef g = b.build(Vals{add(x, y)});
  EXPECT_EQ(g->node_count(), 1u);
  EXPECT_EQ(g->node(0).operand(0), 1u);
}

TEST(Builder, AttributesWithNaNsAreEqualByBits) {
  Builder b;
  const Val x = b.param(f32({}));
  auto everything = [&](double real) {
    EverythingAttrs a;
    a.real = real;
    a.reals = {real};
    return emit(kEverything, {x}, make_attr(a));
  };
  const double nan = std::nan("");
  EXPECT_EQ(everything(nan), everything(nan));
  EXPECT_NE(everything(nan), everything(-nan));
  EXPECT_NE(everything(0.0), everything(-0.0));
}

TEST(Builder, RewritesApplyWhileBuilding) {
  Builder b;
  const Val x = b.param(f32({}));
  EXPECT_EQ(neg(neg(x)), x);
  EXPECT_EQ(neg(neg(neg(x))), neg(x));
  EXPECT_NE(neg(sin(x)), x);
}

TEST(Builder, ManyNodesAreFoundAgain) {
  Builder b;
  const Val x = b.param(f32({}));
  Vals chain{x};
  for (int i = 0; i < 5000; ++i) chain.push_back(sin(chain.back()));
  for (int i = 0; i < 5000; ++i) {
    EXPECT_EQ(sin(chain[static_cast<std::size_t>(i)]), chain[static_cast<std::size_t>(i + 1)]);
  }
}

TEST(Builder, ManyReadersOfOneValueAreFoundAgain) {
  Builder b;
  const Val x = b.param(f32({}));
  auto reader = [&](std::int64_t i) {
    EverythingAttrs a;
    a.integer = i;
    return emit(kEverything, {x}, make_attr(a));
  };
  Vals readers, constants;
  for (int i = 0; i < 1000; ++i) {
    readers.push_back(reader(i));
    constants.push_back(scalar(static_cast<float>(i)));
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(reader(i), readers[static_cast<std::size_t>(i)]);
    EXPECT_EQ(scalar(static_cast<float>(i)), constants[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(b.build(readers)->node_count(), 1000u);
}

TEST(Builder, ManyValuesAreLiftedOnceEach) {
  Builder outer;
  Vals values{outer.param(f32({}))};
  for (int i = 0; i < 20000; ++i) values.push_back(sin(values.back()));
  Builder inner;
  for (int pass = 0; pass < 2; ++pass) {
    for (Val v : values) inner.lift(v);
  }
  EXPECT_EQ(inner.lifted(), values);
}

TEST(Builder, LabelsOfLaterParametersStandAtTheirPlace) {
  Builder b;
  const Val x = b.param(f32({})), y = b.param(f32({}), {"y", {}}), z = b.param(f32({}));
  const GraphRef g = b.build(Vals{x, y, z}, {.result_labels = {{}, {"out", {}}, {}}});
  EXPECT_EQ(g->param_label(0).name, "");
  EXPECT_EQ(g->param_label(1).name, "y");
  EXPECT_EQ(g->param_label(2).name, "");
  EXPECT_EQ(g->result_label(1).name, "out");
  EXPECT_EQ(g->result_label(2).name, "");
  Builder turned;
  const Val p = turned.param(f32({}), {"p", {}}), q = turned.param(f32({}));
  const GraphRef h = turned.build(Vals{p}, {.params = {q, p}});
  EXPECT_EQ(h->param_label(0).name, "");
  EXPECT_EQ(h->param_label(1).name, "p");
}

TEST(Builder, RegionNodesThatBindSizesAreInterned) {
  Builder b;
  const Val x = b.param(f32({})), y = b.param(f32({}));
  const auto first = counting_loop(x, y), again = counting_loop(x, y), other = counting_loop(y, x);
  EXPECT_EQ(first.out, again.out);
  EXPECT_EQ(first.bound, again.bound) << "the caller continues with the older node's sizes";
  EXPECT_NE(first.out, other.out);
  EXPECT_NE(first.bound, other.bound);
  const GraphRef g = b.build(Vals{first.out[1], again.out[1]});
  EXPECT_EQ(g->node_count(), 1u);
  verify(*g);
}

TEST(Builder, CopiedRegionNodesRenameWhatTheyBind) {
  const GraphRef g = graph_with_while();
  Builder b;
  const Val x = b.param(f32({})), y = b.param(f32({}));
  const Inlined one = inline_graph(*g, Vals{x, y}), two = inline_graph(*g, Vals{y, x});
  EXPECT_NE(one.dims.get(g->node(0).bound()[0]), Dim(g->node(0).bound()[0]));
  EXPECT_NE(one.dims.get(g->node(0).bound()[0]), two.dims.get(g->node(0).bound()[0]));
  EXPECT_EQ(one.results[1].dim(0), one.dims.get(g->node(0).bound()[0]));
  verify(*b.build(Vals{one.results[1], two.results[1]}));
}

TEST(Builder, OuterHandlesBecomeOperands) {
  Builder outer;
  const Val x = outer.param(f32({2})), y = outer.param(f32({2}));
  const Val z = add(x, y);
  GraphRef g;
  Vals lifted;
  {
    Builder middle;
    const Val own = middle.param(f32({2}));
    GraphRef inner_graph;
    {
      Builder inner;
      const Val p = inner.param(f32({2}));
      const Val first = add(z, p);
      const Val r = add(first, add(own, z));
      inner_graph = inner.build(Vals{r});
      lifted = inner.lifted();
      EXPECT_EQ(lifted, (Vals{z, own}));  // in order of first use, each once
    }
    EXPECT_EQ(inner_graph->param_count(), 3u) << "lifted ones come first, then the declared";
    Vals args = lifted;
    args.push_back(x);
    const Vals r = call_graph({.name = "inner"}, inner_graph, args);
    EXPECT_EQ(middle.lifted(), (Vals{z, x}));
    g = middle.build(r);
  }
  EXPECT_EQ(g->param_count(), 3u);
  verify(*g);
}

TEST(Builder, ResultsOfAnOuterTraceAreLiftedToo) {
  Builder outer;
  const Val x = outer.param(f32({2}));
  Builder inner;
  const GraphRef g = inner.build(Vals{x});
  EXPECT_EQ(g->param_count(), 1u);
  EXPECT_EQ(g->results()[0], 0u);
}

TEST(Builder, HandlesOfAFinishedTraceAreErrors) {
  Val stale;
  {
    Builder b;
    stale = b.param(f32({}));
  }
  EXPECT_THAT(error_of([&] { (void)stale.type(); }), HasSubstr("TL-TRACE-003"));
  Builder b;
  EXPECT_THAT(error_of([&] { sin(stale); }), HasSubstr("TL-TRACE-003"));
  const Val x = b.param(f32({}));
  EXPECT_THAT(error_of([&] { add(x, stale); }), HasSubstr("TL-TRACE-003"));
  EXPECT_THROW(sin(Val{}), InternalError);
}

TEST(Builder, InnerHandlesDoNotLeakOut) {
  Builder outer;
  const Val x = outer.param(f32({}));
  Builder inner;
  const Val y = sin(x);
  EXPECT_THAT(error_of([&] { outer.lift(y); }), HasSubstr("TL-TRACE-003"));
}

TEST(Builder, OutsideOfATraceThereIsNoBuilder) {
  EXPECT_FALSE(Builder::active());
  EXPECT_THAT(error_of([] { Builder::current(); }), HasSubstr("TL-TRACE-004"));
  // Traces belong to their thread.
  Builder b;
  bool active = true;
  std::thread([&] { active = Builder::active(); }).join();
  EXPECT_FALSE(active);
  EXPECT_TRUE(Builder::active());
}

TEST(Builder, AnExceptionEndsTheTracesItPasses) {
  Builder outer;
  try {
    Builder inner;
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(&Builder::current(), &outer);
}

TEST(Builder, NestingEnds) {
  std::vector<std::unique_ptr<Builder>> open;
  EXPECT_THROW(for (int i = 0; i < 1000; ++i) open.push_back(std::make_unique<Builder>()),
               UserError);
  EXPECT_EQ(open.size(), 256u);
  while (!open.empty()) open.pop_back();
  EXPECT_FALSE(Builder::active());
}

TEST(Builder, DeadCodeIsDropped) {
  auto trace = [](Builder::Close close) {
    Builder b;
    const Val x = b.param(f32({})), y = b.param(f32({}));
    const Val used = sin(x);
    sin(sin(used));
    add(x, y);
    return b.build(Vals{used}, std::move(close));
  };
  const GraphRef g = trace({});
  EXPECT_EQ(g->node_count(), 1u);
  EXPECT_EQ(g->param_count(), 2u) << "signatures never shrink";
  EXPECT_EQ(trace({.keep_dead = true})->node_count(), 4u);
}

TEST(Builder, EffectsAreKeptAndInOrder) {
  Builder b;
  const Val x = b.param(f32({}));
  b.emit_region(kPrint, nullptr, Vals{sin(x)}, {}, {});
  b.emit_region(kPrint, nullptr, Vals{x}, {}, {});
  b.emit_region(kPrint, nullptr, Vals{x}, {}, {});
  const GraphRef g = b.build(Vals{x});
  EXPECT_EQ(g->node_count(), 4u);
  EXPECT_TRUE(g->has_effects());
  EXPECT_EQ(g->node(1).operand(0), 1u);
  // Through a call, too.
  Builder c;
  const Val y = c.param(f32({}));
  call_graph({.name = "p"}, g, Vals{y});
  call_graph({.name = "p"}, g, Vals{y});
  EXPECT_EQ(c.build(Vals{y})->node_count(), 2u);
}

TEST(Builder, ASizeKeepsTheNodeThatBindsItAlive) {
  auto trace = [](auto result, bool as_dim = false) {
    Builder b;
    const Val x = b.param(f32({})), y = b.param(f32({}));
    const Dim trips(counting_loop(x, y).bound[0]);
    Builder::Close close;
    if (as_dim) close.result_dims = {trips * 2};
    return b.build(Vals{result(x, trips)}, std::move(close));
  };
  auto param = [](Val x, Dim) { return x; };
  // As a type, as an attribute, and as a result dim.
  EXPECT_EQ(trace([](Val, Dim n) { return fill({n}); })->node_count(), 2u);
  EXPECT_EQ(trace([](Val, Dim n) { return dim_value(n); })->node_count(), 2u);
  EXPECT_EQ(trace(param, true)->node_count(), 1u);
  EXPECT_EQ(trace(param)->node_count(), 0u);
  verify(*trace([](Val, Dim n) { return sum(fill({n})); }));
}

TEST(Builder, ConstraintsAreProvedRecordedOrRefused) {
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m"), k = Symbol::fresh("k");
  Builder b;
  const Val x = b.param(f32({n})), y = b.param(f32({m})), z = b.param(f32({k}));
  EXPECT_EQ(b.equal_here(n, m), Truth::unknown);
  add(x, x);
  add(x, y);
  add(y, x);
  EXPECT_EQ(b.equal_here(n, m), Truth::yes) << "what is recorded helps later proofs";
  EXPECT_EQ(b.equal_here(2 * Dim(n), n + Dim(m)), Truth::yes);
  add(y, z);
  EXPECT_EQ(b.equal_here(n, k), Truth::yes);
  EXPECT_THAT(error_of([&] { slice(x, Dim(k) + 1); }), HasSubstr("TL-SHAPE-001"));
  EXPECT_THAT(error_of([&] { slice(x, Dim(k) + 1); }),
              HasSubstr("slice: size: k+1 is not at most n"));
  slice(x, floordiv(Dim(n), 2));
  const GraphRef g = b.build(Vals{x, y, z});
  ASSERT_EQ(g->constraints().size(), 2u);
  EXPECT_EQ(g->constraints()[0].what, "add: axis 0");
}

TEST(Builder, ConstraintsSurviveDeadCodeUnlessTheyLoseTheirMeaning) {
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m");
  Builder b;
  const Val x = b.param(f32({n})), y = b.param(f32({m}));
  const auto loop = counting_loop(sum(x), sum(y));
  add(x, y);            // dead, and yet n must be m
  add(loop.out[1], x);  // about a size that nothing binds any more
  const GraphRef g = b.build(Vals{x});
  ASSERT_EQ(g->constraints().size(), 1u);
  EXPECT_EQ(g->node_count(), 0u);
  // Inlining carries it on, in the caller's sizes.
  Builder c;
  const Symbol p = Symbol::fresh("p"), q = Symbol::fresh("q");
  const Val u = c.param(f32({p})), v = c.param(f32({q}));
  inline_graph(*g, Vals{u, v});
  EXPECT_EQ(c.equal_here(p, q), Truth::yes);
  EXPECT_THAT(error_of([&] { inline_graph(*g, Vals{u, fill({Dim(p) + 1})}); }),
              HasSubstr("TL-SHAPE-001"));
}

TEST(Builder, ErrorsOfInferenceHaveTheUsersLine) {
  Builder b;
  const Val x = b.param(f32({2})), y = b.param(f32({3}));
  OriginScope scope(Origin{.name = "z", .place = {"model.cc", 7}});
  EXPECT_EQ(error_of([&] { add(x, y); }), "model.cc:7: TL-SHAPE-001: add: axis 0: 2 is not 3");
  EXPECT_THAT(error_of([&] { add(x, sum(y)); }), HasSubstr("model.cc:7: TL-RANK-001: add"));
}

TEST(Builder, InliningChecksItsArguments) {
  const Symbol n = Symbol::fresh("n");
  Builder b("f");
  const GraphRef g = b.build(Vals{sin(b.param(f32({n, n})))});
  Builder c;
  const Val rank1 = c.param(f32({4})), square = c.param(f32({4, 4})), oblong = c.param(f32({4, 5}));
  EXPECT_THAT(error_of([&] { inline_graph(*g, Vals{rank1}); }), HasSubstr("TL-SHAPE-001"));
  EXPECT_THAT(error_of([&] { inline_graph(*g, Vals{oblong}); }), HasSubstr("argument 0, axis 1"));
  EXPECT_EQ(inline_graph(*g, Vals{square}).results[0].type(), f32({4, 4}));
  EXPECT_THROW(inline_graph(*g, Vals{}), InternalError);
}

TEST(Builder, WhatAGraphKnowsOfItsSizesIsRequiredOfTheCaller) {
  const Symbol n =
      Symbol::fresh(SymbolFacts{.name = "n", .lower = 2, .upper = 8, .multiple_of = 2});
  Builder b("f");
  // Built on n >= 2: max(n, 2) is n.
  const GraphRef g = b.build(Vals{slice(b.param(f32({n})), max(Dim(n), 2))});
  Builder c;
  const Symbol m = Symbol::fresh("m");
  inline_graph(*g, Vals{c.param(f32({m}))});
  inline_graph(*g, Vals{c.param(f32({4}))});
  const GraphRef h = c.build({});
  ASSERT_EQ(h->constraints().size(), 3u);
  EXPECT_EQ(h->constraints()[0].what, "f: bounds of size n");
  EXPECT_THAT(error_of([&] { inline_graph(*g, Vals{c.param(f32({1}))}); }),
              HasSubstr("2 is not at most 1"));
  EXPECT_THAT(error_of([&] { inline_graph(*g, Vals{c.param(f32({10}))}); }),
              HasSubstr("10 is not at most 8"));
  EXPECT_THAT(error_of([&] { inline_graph(*g, Vals{c.param(f32({5}))}); }),
              HasSubstr("1 is not 0"));
}

TEST(Builder, EntryDimsThatNoShapeDeterminesArePassed) {
  const Symbol n = Symbol::fresh("n");
  Builder b("pullback");
  const Val y = b.param(f32({}));
  const GraphRef g = b.build(Vals{add(fill({n}), fill({n})), y});
  ASSERT_EQ(g->dims().size(), 1u);
  Builder c;
  const Val z = c.param(f32({}));
  EXPECT_THAT(error_of([&] { inline_graph(*g, Vals{z}); }), HasSubstr("TL-SHAPE-004"));
  const Dim five(5);
  EXPECT_EQ(inline_graph(*g, Vals{z}, std::span(&five, 1)).results[0].type(), f32({5}));
}

TEST(Builder, CallsBindTheResultDimsOfTheirCallee) {
  const GraphRef g = graph_with_while();
  Builder b;
  const Val x = b.param(f32({}));
  const Vals r = call_graph({.name = "g"}, g, Vals{x, x});
  EXPECT_NE(r[1].dim(0), g->result_dims()[0]);
  const GraphRef h = b.build(r);
  EXPECT_EQ(h->node(0).bound().size(), 1u);
  EXPECT_EQ(h->node(0).bound()[0].name(), "T");
  verify(*h);
  // A result dim that is an entry dim stays what the caller gave.
  const Symbol n = Symbol::fresh("n");
  Builder c;
  const Val p = c.param(f32({n}));
  const GraphRef identity = c.build(Vals{p}, {.result_dims = {Dim(n)}});
  Builder d;
  const Val q = d.param(f32({7}));
  const Vals s = call_graph({.name = "identity"}, identity, Vals{q});
  EXPECT_EQ(s[0].type(), f32({7}));
  verify(*d.build(s));
}

TEST(Builder, SignaturesCanBeChanged) {
  Builder b;
  const Val x = b.param(f32({}), {"x", {}}), y = b.param(f32({}));
  const GraphRef g = b.build(Vals{sin(x), neg(y)});
  const std::vector<ParamSpec> params{{kNoNode, f32({3})}, {1, {}}, {0, {}}};
  const GraphRef h = with_signature(*g, params, std::vector<ValueId>{g->results()[1]});
  EXPECT_EQ(h->param_count(), 3u);
  EXPECT_EQ(h->type(0), f32({3}));
  EXPECT_EQ(h->param_label(2).name, "x");
  EXPECT_EQ(h->node_count(), 1u);
  EXPECT_EQ(h->node(0).operand(0), 1u);
  verify(*h);
}

TEST(Builder, OriginsNestAndEnd) {
  Builder b;
  const Val x = b.param(f32({}));
  Val y, z;
  {
    OriginScope outer(Origin{.name = "outer"});
    {
      OriginScope inner(Origin{.name = "inner"});
      y = sin(x);
    }
    z = neg(x);
  }
  EXPECT_EQ(b.origin_of(y).name, "inner");
  EXPECT_EQ(b.origin_of(z).name, "outer");
  EXPECT_EQ(b.origin_of(sin(z)).name, "");
  EXPECT_EQ(b.origin_of(x).name, "");
}

}  // namespace
}  // namespace tlaloc::ir
