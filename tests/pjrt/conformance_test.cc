// The suite on PJRT plugins: one by its name in each run.
#include "tests/conformance/conformance.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

#include "tests/pjrt/plugins.h"
#include "tests/pjrt/tolerances.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/pjrt/pjrt_backend.h"

namespace tlaloc::runtime::conformance {
namespace {

// Printing, and scans over pieces of different lengths.
const std::set<std::string> kRefused{"debug_print", "scan"};

TEST(Conformance, PjrtAgreesWithTheInterpreter) {
  const char* plugin =
      plugins::on_cpu() ? std::getenv("TLALOC_TEST_PLUGIN") : plugins::tested_plugins()[0];
  ASSERT_TRUE(plugin) << "TLALOC_TEST_PLUGIN names the plugin";
  // Compiling takes some 30 ms for a program, and a little for each case in it.
  const char* every = std::getenv("TLALOC_TEST_EVERY");
  const char* op = std::getenv("TLALOC_TEST_OP");
  auto backend = plugins::make_backend({.plugin = plugin, .recorded_trips = 64});
  const auto report = check(*backend, interp::interp_backend(),
                            {.op = op ? op : "",
                             .every = every ? std::atoi(every) : 29,
                             .batch = 64,
                             .denormals = false,  // XLA's CPU takes them for zeros
                             .ulps = plugins::kUlps,
                             .narrow_ulps = plugins::kNarrowUlps});
  EXPECT_TRUE(report.passed()) << report.text();
  EXPECT_GT(report.cases(), op || every ? 0 : 900);
  // What can't be said in StableHLO, by name.
  for (const auto& [name, r] : report.ops) {
    // Of few cases all may be empty arrays.
    EXPECT_TRUE(every || r.elements > 0 || r.refused > 0) << name << ": nothing was compared";
    EXPECT_TRUE(r.refused == 0 || kRefused.contains(name) ||
                (name == "custom_call" && !plugins::on_cpu()))
        << name << ": " << r.refusal;
  }
}

}  // namespace
}  // namespace tlaloc::runtime::conformance
