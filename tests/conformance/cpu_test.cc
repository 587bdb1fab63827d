// The suite on the CPU back end.
#include <gtest/gtest.h>

#include "tests/conformance/conformance.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp_backend.h"

namespace tlaloc::runtime::conformance {
namespace {

TEST(Conformance, CpuAgreesWithTheInterpreter) {
  const auto report =
      check(cpu::cpu_backend(), interp::interp_backend(), {.compile = {.run_once = true}});
  EXPECT_TRUE(report.passed()) << report.text();
  EXPECT_EQ(report.refused(), 0) << report.text();
  EXPECT_GT(report.cases(), 1000);
}
TEST(Conformance, CompiledCodeAgreesWithTheInterpreter) {
  const auto report = check(cpu::cpu_backend(), interp::interp_backend(), {.every = 29});
  EXPECT_TRUE(report.passed()) << report.text();
  EXPECT_GT(report.cases(), 400);
}

}  // namespace
}  // namespace tlaloc::runtime::conformance
