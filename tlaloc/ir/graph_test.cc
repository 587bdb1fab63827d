#include "tlaloc/ir/graph.h"

#include <gtest/gtest.h>

#include <thread>

#include "tlaloc/ir/testdata/region_graphs.h"
#include "tlaloc/ir/testdata/round_trip.h"
#include "tlaloc/ir/verify.h"

namespace tlaloc::ir {
namespace {

using namespace test;

TEST(Graph, IndexesItsValues) {
  Builder b("f");
  const Symbol n = Symbol::fresh("n");
  const Val x = b.param(f32({n}), {"x", {"batch"}});
  const Vals halves = b.emit_all(kSplit, nullptr, Vals{x});
  const GraphRef g = b.build(Vals{halves[1], x});
  EXPECT_EQ(g->value_count(), 3u);
  EXPECT_EQ(g->producer(0), kNoNode);
  EXPECT_EQ(g->producer(2), 0u);
  EXPECT_TRUE(g->is_param(0));
  EXPECT_EQ(g->node(0).result(1), 2u);
  EXPECT_EQ(g->node(0).result_types().size(), 2u);
  EXPECT_EQ(g->results()[0], 2u);
  EXPECT_EQ(g->result_types()[1], f32({n}));
  EXPECT_EQ(g->param_label(0).axes[0], "batch");
  EXPECT_EQ(g->dims().size(), 1u);
}

/// One graph in many variants; the symbols are new each time.
struct Variant {
  bool other_order = false, other_facts = false, other_constant = false, other_shape = false,
       other_op = false, other_operands = false, other_result = false, other_dims = false,
       extra_param = false, extra_constraint = false, other_region = false, other_name = false;
};
GraphRef build(const Variant& v) {
  SymbolFacts facts{.name = v.other_name ? "batch" : "n"};
  if (v.other_facts) facts.lower = 1;
  if (v.other_name) facts.typical = 99;
  // Created in another order, the symbols have other ids, and a size such as n*m another form.
  std::optional<Symbol> first;
  if (v.other_order) first = Symbol::fresh("m");
  const Symbol n = Symbol::fresh(facts);
  const Symbol m = first ? *first : Symbol::fresh("m");
  Builder b(v.other_name ? "g" : "f");
  OriginScope origin(Origin{.name = v.other_name ? "a" : "b"});
  const Val x = b.param(f32({n}), v.other_name ? Label{"y", {"rows"}} : Label{"x", {}});
  const Val y = b.param(f32({m}));
  if (v.extra_param) b.param(f32({}));
  const Val f = fill({Dim(n) * m + min(Dim(n), m) + (v.other_shape ? 2 : 1)});
  const Val c = scalar(v.other_constant ? -0.0f : 0.0f);
  const Val s = v.other_op ? neg(x) : sin(x);
  const Val d = v.other_operands ? sub(c, sum(s)) : sub(sum(s), c);
  Val r = d;
  if (v.other_region) {
    r = counting_loop(c, c).out[0];
  } else {
    r = counting_loop(d, c).out[0];
  }
  if (v.extra_constraint) add(x, y);
  Builder::Close close;
  close.result_dims = {v.other_dims ? Dim(n) : Dim(n) + m};
  const Vals results = v.other_result ? Vals{f, r, d} : Vals{r, f, d};
  return b.build(results, std::move(close));
}

TEST(Graph, EqualUpToTheChoiceOfSymbolsAndNames) {
  const GraphRef g = build({});
  for (const GraphRef& h : {build({}), build({.other_order = true}), build({.other_name = true})}) {
    EXPECT_EQ(g->content_hash(), h->content_hash());
    EXPECT_TRUE(same_graph(*g, *h));
    EXPECT_TRUE(same_graph(*h, *g));
  }
  EXPECT_TRUE(same_graph(*g, *g));
}

TEST(Graph, EveryChangeCounts) {
  const GraphRef g = build({});
  const Variant variants[] = {{.other_facts = true},      {.other_constant = true},
                              {.other_shape = true},      {.other_op = true},
                              {.other_operands = true},   {.other_result = true},
                              {.other_dims = true},       {.extra_param = true},
                              {.extra_constraint = true}, {.other_region = true}};
  int i = 0;
  for (const Variant& v : variants) {
    const GraphRef h = build(v);
    EXPECT_NE(g->content_hash(), h->content_hash()) << i;
    EXPECT_FALSE(same_graph(*g, *h)) << i;
    EXPECT_FALSE(same_graph(*h, *g)) << i++;
  }
}

TEST(Graph, WhereAListEndsCounts) {
  // Two nodes with one and two results, or with two and one: the same types in a row.
  auto split = [](bool first) {
    Builder b;
    const Val x = b.param(f32({}));
    const std::vector<Type> one(1, f32({})), two(2, f32({}));
    b.append(kSplit, nullptr, Vals{x}, first ? two : one);
    b.append(kSplit, nullptr, Vals{x}, first ? one : two);
    return b.build(Vals{x}, {.keep_dead = true});
  };
  EXPECT_NE(split(true)->content_hash(), split(false)->content_hash());
  EXPECT_FALSE(same_graph(*split(true), *split(false)));
  EXPECT_TRUE(same_graph(*split(true), *split(true)));
}

TEST(Graph, SizesAreNumberedByTheirBinder) {
  auto pair = [](bool swapped) {
    const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m");
    Builder b;
    b.param(f32({n})), b.param(f32({m}));
    return b.build(Vals{fill({swapped ? m : n})});
  };
  EXPECT_TRUE(same_graph(*pair(false), *pair(false)));
  EXPECT_FALSE(same_graph(*pair(false), *pair(true)));
  EXPECT_NE(pair(false)->content_hash(), pair(true)->content_hash());
}

TEST(Graph, TheHashIsTheSameInEveryProcess) {
  // Written down once: a change invalidates the caches of every user, and is to be on purpose.
  const GraphRef g = parse(R"(graph {n, m % 4} (%x: f32[n, m]) -> (f32[n*m+min(n, 3)]) {
    %y = fill() {shape=[n*m+min(n, 3)]} : f32[n*m+min(n, 3)]
    %c = constant() {value=f32[3]{1, 2.5, nan}} : f32[3]
    require n <= m
    return %y
  })");
  EXPECT_EQ(g->content_hash(), 13082099446118510680u);
}

TEST(Graph, TheHashIsComputedFromAnyThread) {
  const GraphRef g = build({});
  std::vector<std::uint64_t> hashes(4);
  std::vector<std::thread> threads;
  for (auto& h : hashes) threads.emplace_back([&] { h = g->content_hash(); });
  for (auto& t : threads) t.join();
  for (auto h : hashes) EXPECT_EQ(h, hashes[0]);
}

TEST(Graph, EntryDimsStandInOrderOfAppearance) {
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m"), k = Symbol::fresh("k");
  auto dims = [&](Builder::Close close) {
    Builder b;
    b.param(f32({m}));
    const GraphRef g = b.build(Vals{fill({k})}, std::move(close));
    return std::vector(g->dims().begin(), g->dims().end());
  };
  EXPECT_EQ(dims({.result_dims = {Dim(n)}}), (std::vector<Symbol>{m, k, n}));
  EXPECT_EQ(dims({.result_dims = {Dim(n)}, .dims = {n, m}}), (std::vector<Symbol>{n, m, k}));
}

TEST(Graph, AMillionNodesNeedNoStack) {
  // A frame takes 16 bytes at least, so recursion would need 16 MiB where the stack has 8.
  constexpr int kNodes = 1'000'000;
  Builder b;
  Val x = b.param(f32({Symbol::fresh("n")}));
  for (int i = 0; i < kNodes; ++i) x = sin(x);
  GraphRef g = b.build(Vals{x});
  ASSERT_EQ(g->node_count(), static_cast<std::size_t>(kNodes));
  verify(*g);
  const std::string text = g->to_string();
  GraphRef h = parse(text);
  EXPECT_EQ(g->content_hash(), h->content_hash());
  EXPECT_TRUE(same_graph(*g, *h));
  EXPECT_TRUE(h->to_string() == text);
  g.reset();
  h.reset();
}

}  // namespace
}  // namespace tlaloc::ir
