// Random programs, bounded for every run; `make fuzz-long` runs many more.
#include <gtest/gtest.h>

#include "tests/transform/random_check.h"

namespace tlaloc::testing {
namespace {

class Random : public ::testing::TestWithParam<int> {};

// Batches, so that a failure names a small range and ctest can run them apart.
#ifndef TLALOC_RANDOM_BATCHES
#define TLALOC_RANDOM_BATCHES 16
#endif
constexpr int kBatch = 25, kBatches = TLALOC_RANDOM_BATCHES;

TEST_P(Random, AgreesWithTheComplexStep) {
  int agree = 0;
  for (int seed = GetParam() * kBatch; seed < (GetParam() + 1) * kBatch; ++seed) {
    const RandomResult r = check_random(static_cast<std::uint64_t>(seed));
    agree += r.verdict == Verdict::agrees;
    for (const std::string& line : r.lines) {
      ADD_FAILURE() << "seed " << seed << ", " << r.policy << ": " << line.substr(0, 1000);
    }
  }
  EXPECT_GT(agree, kBatch / 5) << "too few programs are checked";
}
INSTANTIATE_TEST_SUITE_P(Programs, Random, ::testing::Range(0, kBatches));

}  // namespace
}  // namespace tlaloc::testing
