// The conformance suite on IREE, of every op; of those only that TLALOC_TEST_OPS names, separated
// by commas, where it does.
#include "tests/conformance/conformance.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>
#include <string>

#include "tests/conformance/cases.h"
#include "tests/iree/limits.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/iree/iree_backend.h"

namespace tlaloc::runtime::conformance {
namespace {

std::vector<std::string> wanted_ops() {
  const char* asked = std::getenv("TLALOC_TEST_OPS");
  const std::string list = asked ? asked : "";
  std::vector<std::string> all;
  for (const auto* row : all_rows()) {
    if (row) all.emplace_back(row->op->name);
  }
  if (list.empty()) return all;
  std::erase_if(all, [&](const std::string& op) {
    return ("," + list + ",").find("," + op + ",") == std::string::npos;
  });
  return all;
}

TEST(Conformance, IreeAgreesWithTheInterpreter) {
  const auto backend = iree::make_backend({.recorded_trips = 64});
  // Compiling takes some seconds for a program, and a little for each case in it.
  const char* every = std::getenv("TLALOC_TEST_EVERY");
  int compared = 0;
  for (const std::string& op : wanted_ops()) {
    const auto known = iree::kCantDo.find(op);
    const Report report = check(*backend, interp::interp_backend(),
                                {.op = op,
                                 .every = every ? std::atoi(every) : 997,
                                 .batch = 64,
                                 .denormals = false,
                                 .ulps = iree::kUlps});
    const bool passed = report.failed() == 0 && report.refused() == 0;
    std::cout << op << ": " << report.cases() << " cases, " << report.failed() << " failed, "
              << report.refused() << " refused" << std::endl;
    if (known == iree::kCantDo.end()) {
      EXPECT_TRUE(passed) << report.text();
    } else {
      EXPECT_FALSE(passed) << op << ": it can, so limits.h should not say \"" << known->second
                           << '"';
    }
    compared += report.cases();
  }
  EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace tlaloc::runtime::conformance
