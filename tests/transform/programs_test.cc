// Every worked program under every transform and pair of transforms, by policy.
#include "tests/transform/programs.h"

#include <gtest/gtest.h>

#include "tests/transform/checks.h"

namespace tlaloc::testing {
namespace {

struct Case {
  const Program* program;
  Policy policy;
};
void PrintTo(const Case& c, std::ostream* os) { *os << c.program->name << describe(c.policy); }

class Worked : public ::testing::TestWithParam<Case> {};

TEST_P(Worked, AgreesWithTheComplexStep) {
  const auto& [program, policy] = GetParam();
  CheckOptions o{.policy = policy};
  // Flat histories can't be mapped over where lanes differ in length: refused by name.
  o.lanes = policy.nested != Policy::Nested::append;
  const CheckResult r = check(program->graph, program->args, o);
  EXPECT_FALSE(r.ill_conditioned);
  for (const std::string& line : r.disagreements) ADD_FAILURE() << line.substr(0, 2000);
}

std::vector<Case> cases() {
  using R = Policy::Residuals;
  using N = Policy::Nested;
  std::vector<Case> all;
  for (const Program& p : programs()) {
    for (R residuals : {R::min_cut, R::save}) {
      for (N nested : {N::recompute, N::append, N::automatic}) {
        all.push_back({&p, {residuals, nested}});
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Programs, Worked, ::testing::ValuesIn(cases()), [](const auto& info) {
  return info.param.program->name + "_" + describe(info.param.policy);
});

/// y = x·x in a loop, with a declared derivative of factor·x.
GraphRef declared_square(double factor) {
  return graph_of({f64()}, [&](const Vals& p) {
    const GraphRef callee = graph_of({f64()}, [](const Vals& q) { return Vals{q[0] * q[0]}; });
    const GraphRef fwd = graph_of({f64()}, [](const Vals& q) { return Vals{q[0] * q[0], q[0]}; });
    const GraphRef bwd =
        graph_of({f64(), f64()}, [&](const Vals& q) { return Vals{real(factor) * q[0] * q[1]}; });
    return Vals{fori(3, p[0], [&](Val, Val x) {
      const Val args[] = {x};
      const Type types[] = {f64()};
      return ops::sin(ir::emit_call({.name = "square", .kind = ir::CallKind::custom_vjp}, args,
                                    {{callee, {}}, {fwd, {}}, {bwd, {}}}, types)
                          .out[0]);
    })};
  });
}

TEST(Check, FindsAWrongDerivative) {
  const Arrays x{HostArray::scalar(0.9)};
  EXPECT_TRUE(check(declared_square(2), x, {}).disagreements.empty());
  const auto found = check(declared_square(2.0001), x, {}).disagreements;
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].substr(0, 5), "jvp: ");
}

TEST(Check, SaysWhereATransformFails) {
  const GraphRef g = graph_of({f64()}, [](const Vals& p) {
    return Vals{while_one(p[0], [](Val x) { return x > 0.5; }, [](Val x) { return x * 1.5; })};
  });
  // The loop never ends, which the oracle notices.
  const auto found = check(g, {HostArray::scalar(0.9)}, {}).disagreements;
  ASSERT_EQ(found.size(), 1);
  EXPECT_EQ(found[0].substr(0, 13), "complex step:");
}

}  // namespace
}  // namespace tlaloc::testing
