// Programs with loops and branches, and derivatives and maps of them, on the plugins in turn: the
// interpreter's results.
#include "tests/transform/programs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "tests/pjrt/plugins.h"
#include "tests/transform/arrays.h"
#include "tests/transform/derived.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/pjrt/pjrt_backend.h"

namespace tlaloc::testing {
namespace {

runtime::Backend& backend(std::size_t turn) {
  static const std::vector<std::shared_ptr<runtime::Backend>> backends = [] {
    std::vector<std::shared_ptr<runtime::Backend>> all;
    for (const char* plugin : plugins::tested_plugins()) {
      all.push_back(plugins::make_backend({.plugin = plugin, .recorded_trips = 64}));
    }
    return all;
  }();
  return *backends[turn % backends.size()];
}

/// The largest difference by size; infinite for others.
double distance(const HostArray& a, const HostArray& b) {
  if (a.dtype() != b.dtype() || a.extents() != b.extents()) return INFINITY;
  double worst = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = a.element(i), y = b.element(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double d = std::abs(x - y) / (1 + std::abs(y));
    worst = std::isnan(d) ? INFINITY : std::max(worst, d);
  }
  return worst;
}

void expect_agreement(runtime::Backend& on, const GraphRef& g, const std::vector<HostArray>& args,
                      const std::string& what) {
  std::vector<runtime::Buffer> inputs(args.begin(), args.end());
  const auto got = on.compile(g)->run(std::move(inputs)).outputs;
  const auto want = interp::run(*g, args);
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::size_t k = 0; k < want.size(); ++k) {
    const HostArray y = got[k].to_host();
    // The order of sums is XLA's.
    EXPECT_LT(distance(y, want[k]), 1e-9)
        << what << ", result " << k << ": " << to_string(y) << " is not " << to_string(want[k]);
  }
}

TEST(Programs, GiveTheInterpretersResults) {
  const transform::Policy policy{transform::Policy::Residuals::min_cut,
                                 transform::Policy::Nested::recompute};
  // With TLALOC_TEST_EVERY a few of them.
  const std::size_t every = std::getenv("TLALOC_TEST_EVERY") ? 9 : 1;
  std::size_t turn = 0;
  for (const Program& p : programs()) {
    if (turn++ % every) continue;
    const GraphRef gradient = grad_of(p.graph, policy);
    std::vector<HostArray> lanes;
    for (const HostArray& a : p.args) lanes.push_back(stacked({a, a}));
    runtime::Backend& on = backend(turn);
    expect_agreement(on, p.graph, p.args, p.name);
    expect_agreement(on, gradient, p.args, p.name + ", gradient");
    expect_agreement(on, vmap_of(gradient), lanes, p.name + ", mapped gradient");
  }
}

}  // namespace
}  // namespace tlaloc::testing
