#include "tlaloc/runtime/prologue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tlaloc/ir/builder.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::runtime {
namespace {

using ir::Builder;
using ir::Dim;
using ir::GraphRef;
using ir::Symbol;
using ir::Type;
using ir::Val;
using ir::Vals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace ops;  // NOLINT: the operators

std::vector<std::string> op_names(const GraphRef& g) {
  std::vector<std::string> r;
  for (std::uint32_t i = 0; i < g->node_count(); ++i) r.emplace_back(g->node(i).op().name);
  return r;
}
Split split(const GraphRef& g, const std::vector<bool>& bound,
            const std::vector<bool>& stays = {}) {
  Split s = split_prologue(*g, bound, stays);
  ir::verify(*s.prologue);
  ir::verify(*s.main);
  return s;
}
Type f64(std::initializer_list<Dim> shape) { return Type::get(DType::f64, shape); }

TEST(Prologue, TakesWhatDependsOnBoundParamsOnly) {
  Builder b("f");
  const Symbol m = Symbol::fresh("m"), n = Symbol::fresh("n");
  const Val w = b.param(f64({n}), {.name = "w"}), x = b.param(f64({m}), {.name = "x"});
  const GraphRef g = b.build(Vals{exp(w) + 1.0, sin(x), cos(w) * x});
  const Split s = split(g, {true, false});
  EXPECT_THAT(op_names(s.prologue),
              ElementsAre("exp", "constant", "broadcast_in_dim", "add", "cos"));
  EXPECT_THAT(op_names(s.main), ElementsAre("sin", "mul"));
  EXPECT_EQ(s.main->param_count(), 3u);
  EXPECT_EQ(s.main->param_label(2).name, "x");
  EXPECT_THAT(s.dims, ElementsAre(n));
  EXPECT_EQ(s.main->constraints().size(), 1u);
}

TEST(Prologue, WhatStaysIsNotTaken) {
  Builder b;
  const Val w = b.param(f64({4})), x = b.param(f64({4}));
  const GraphRef g = b.build(Vals{sin(exp(w)) * x});
  const Split s = split(g, {true, false}, {false, true, false});
  EXPECT_THAT(op_names(s.prologue), ElementsAre("exp"));
  EXPECT_THAT(op_names(s.main), ElementsAre("sin", "mul"));
}

TEST(Prologue, WhatTakesNoOperandsIsMadeAgain) {
  Builder b;
  const Val w = b.param(f64({4})), x = b.param(f64({4}));
  const Val count = iota(Type::get(DType::f64, {4}), 0);
  const GraphRef g = b.build(Vals{exp(w + count), x + count});
  const Split s = split(g, {true, false});
  EXPECT_THAT(op_names(s.prologue), ElementsAre("iota", "add", "exp"));
  EXPECT_THAT(op_names(s.main), ElementsAre("iota", "add"));
  EXPECT_EQ(s.main->param_count(), 2u);
}

TEST(Prologue, SizesOfOtherParamsStayBehind) {
  Builder b;
  const Symbol m = Symbol::fresh("m");
  const Val w = b.param(f64({})), x = b.param(f64({m}));
  const Dim shape[] = {m};
  const GraphRef g = b.build(Vals{broadcast_to(exp(w), shape), x});
  const Split s = split(g, {true, false});
  EXPECT_THAT(op_names(s.prologue), ElementsAre("exp"));
  EXPECT_THAT(op_names(s.main), ElementsAre("broadcast_in_dim"));
}

TEST(Prologue, NothingOrEverything) {
  Builder b;
  const Val x = b.param(f64({}));
  const GraphRef g = b.build(Vals{exp(x)});
  EXPECT_THAT(op_names(split(g, {false}).prologue), IsEmpty());
  const Split all = split(g, {true});
  EXPECT_THAT(op_names(all.prologue), ElementsAre("exp"));
  EXPECT_THAT(op_names(all.main), IsEmpty());
  EXPECT_EQ(all.main->results().size(), 1u);
}

TEST(Prologue, ConstraintsBetweenTheHalvesStay) {
  // n is a size of the bound param only, m of the other one only: main mentions n in a constraint.
  Builder b;
  const Symbol m = Symbol::fresh("m"), n = Symbol::fresh("n");
  const Val w = b.param(f64({n})), x = b.param(f64({m}));
  const std::int64_t all[] = {0};
  b.require({ir::Constraint::Kind::less_equal, n, m, "n and m", {}});
  const GraphRef g = b.build(Vals{reduce_sum(w, all), x});
  const Split s = split(g, {true, false});
  EXPECT_EQ(s.main->constraints().size(), 1u);
  EXPECT_EQ(s.main->result_dims().size(), 2u);
  EXPECT_THAT(s.prologue->constraints(), IsEmpty());
}

}  // namespace
}  // namespace tlaloc::runtime
