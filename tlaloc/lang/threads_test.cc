#include "tlaloc/lang/threads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Threads, AreAsManyAsOneSays) {
  const std::int64_t before = num_threads();
  EXPECT_GE(before, 1);
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  set_num_threads(before);
  EXPECT_THAT([] { set_num_threads(0); }, ThrowsMessage<UserError>(HasSubstr("TL-THREADS-001")));
}

}  // namespace
}  // namespace tlaloc
