// Depth costs no stack, and length costs linearly.
#include "tests/transform/scaling.h"

#include <gtest/gtest.h>

#include "tests/transform/arrays.h"
#include "tests/transform/derived.h"
#include "tlaloc/interp/interp.h"

namespace tlaloc::testing {
namespace {

// transform_scaling does the same with a million.
TEST(Scaling, ALongChainNeedsNoStack) {
  ChainCost c;
  with_stack(256 << 10, [&] { c = measure_chain(200000); });
  EXPECT_LT(c.grad_nodes, 8 * c.length);
  // The chain is contracting: value and slope are those of a chain of a thousand.
  const ChainCost reference = measure_chain(1000);
  EXPECT_NEAR(c.value, reference.value, 1e-12);
  EXPECT_NEAR(c.slope, reference.slope, 1e-12);
}

TEST(Scaling, ReverseCostsAConstantFactorOfThePrimal) {
  for (std::int64_t n : {100, 1000, 10000}) {
    const GraphRef g = chain(n);
    interp::Stats primal, reverse;
    interp::run(*g, {HostArray::scalar(0.7)}, {.stats = &primal});
    const GraphRef d = transform::value_and_grad(g, {true});
    interp::run(*d, {HostArray::scalar(0.7)}, {.stats = &reverse});
    EXPECT_LT(reverse.nodes, 4 * primal.nodes + 10) << n;
  }
}

TEST(Scaling, AChainInsideALoopAndABranch) {
  with_stack(256 << 10, [&] {
    const GraphRef body = chain(20000);
    const GraphRef g = graph_of({f64()}, [&](const Vals& p) {
      return Vals{fori(2, p[0], [&](Val, Val x) {
        return ops::cond(
            x > 0.1, {x}, [&](const Vals& q) { return ir::inline_graph(*body, q).results; },
            [](const Vals& q) { return q; })[0];
      })};
    });
    const double x = 0.7;
    const ComplexArrays stepped =
        run_complex(*g, {{HostArray::scalar(x), HostArray::scalar(kStep)}});
    const GraphRef d = checked(transform::value_and_grad(g, {true}));
    const auto r = interp::run(*d, {HostArray::scalar(x)});
    EXPECT_NEAR(r[1].as<double>()[0], stepped[0].im.as<double>()[0] / kStep, 1e-12);
  });
}

}  // namespace
}  // namespace tlaloc::testing
