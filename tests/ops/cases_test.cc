#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/ops/checks.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::testing {
namespace {

std::string test_name(const ::testing::TestParamInfo<Case>& info) {
  std::string s = info.param.name;
  std::ranges::replace_if(s, [](unsigned char ch) { return !std::isalnum(ch); }, '_');
  return s;
}

class OpCase : public ::testing::TestWithParam<Case> {};
TEST_P(OpCase, DerivativesAndLanes) {
  for (const std::string& line : check_case(GetParam())) ADD_FAILURE() << line;
}
INSTANTIATE_TEST_SUITE_P(Ops, OpCase, ::testing::ValuesIn(all_cases()), test_name);

void collect(const ir::Graph& g, std::set<std::string>& names) {
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    names.insert(g.node(i).op().name);
    for (const ir::Region& r : g.node(i).regions()) collect(*r.graph, names);
  }
}

TEST(OpCases, EveryRuleIsExercised) {
  std::set<std::string> seen, transposed;
  for (const Case& c : all_cases()) {
    const ir::GraphRef g = graph_of_case(c);
    collect(*g, seen);
    if (!c.linear.empty()) collect(*g, transposed);
  }
  for (const ir::OpDef* op : ops::table()) {
    if (op->region_kind != ir::RegionKind::none) continue;
    if (op->jvp || op->batch) {
      EXPECT_TRUE(seen.contains(op->name)) << op->name << " has no case";
    }
    if (op->transpose) {
      EXPECT_TRUE(transposed.contains(op->name)) << op->name << " has no linear case";
    }
  }
}

// The checks can fail: wrong derivatives and a wrong transpose are found.
TEST(OpCases, NegativeControl) {
  const HostArray x = vec({0.5, -1.5, 2});
  auto complaints = [&](const ops::Body& build, std::vector<bool> linear = {}) {
    return check_case(
        {.name = "control", .args = {x}, .build = build, .linear = std::move(linear)});
  };
  EXPECT_TRUE(complaints([](const Vals& p) { return Vals{p[0] * p[0]}; }).empty());
  // The derivative of round is zero, the difference quotient of x - round(x) is one.
  EXPECT_FALSE(
      complaints([](const Vals& p) { return Vals{p[0] + 1e4 * ops::round(p[0] * 1e4)}; }).empty());
  EXPECT_FALSE(complaints([](const Vals& p) { return Vals{ops::sin(p[0])}; }, {true}).empty());
}

}  // namespace
}  // namespace tlaloc::testing
