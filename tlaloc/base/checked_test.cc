#include "tlaloc/base/checked.h"

#include <gtest/gtest.h>

#include <limits>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(Checked, ExactUpToTheLastInteger) {
  EXPECT_EQ(checked_add(kMost - 1, 1), kMost);
  EXPECT_EQ(checked_sub(kLeast + 1, 1), kLeast);
  EXPECT_EQ(checked_mul(kLeast, 1), kLeast);
  EXPECT_EQ(checked_mul(1ll << 31, -(1ll << 32)), kLeast);
}

TEST(Checked, RefusesWhatDoesNotFit) {
  for (const auto f : {+[] { checked_add(kMost, 1); }, +[] { checked_sub(kLeast, 1); },
                       +[] { checked_sub(0, kLeast); }, +[] { checked_mul(kLeast, -1); },
                       +[] { checked_mul(1ll << 31, 1ll << 32); }}) {
    try {
      f();
      ADD_FAILURE() << "no error";
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), "TL-SIZE-001");
    }
  }
}

}  // namespace
}  // namespace tlaloc
