#include "tlaloc/cpu/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/testing.h"

namespace tlaloc::cpu {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Environment, Defaults) {
  testing::PlainEnvironment environment;
  const Settings settings = settings_from_environment();
  EXPECT_EQ(settings.codegen_library, "");
  EXPECT_FALSE(settings.contract);
  EXPECT_EQ(settings.dump_folder, "");
  EXPECT_EQ(settings.cache.folder, "/somewhere/.cache/tlaloc");
  EXPECT_EQ(settings.cache.bytes, 536870912U);
  EXPECT_EQ(settings.packed_bytes, std::nullopt);
  EXPECT_EQ(settings.num_threads, 0);
}

TEST(Environment, Values) {
  testing::PlainEnvironment environment;
  environment.set("TLALOC_CODEGEN_LIBRARY", "a.so");
  environment.set("TLALOC_DUMP", "dump");
  environment.set("TLALOC_CACHE_BYTES", "1000");
  environment.set("TLALOC_PACKED_BYTES", "0");
  environment.set("TLALOC_CACHE", "on");
  environment.set("TLALOC_NUM_THREADS", "3");
  environment.set("TLALOC_CONTRACT", "on");
  const Settings settings = settings_from_environment();
  EXPECT_EQ(settings.codegen_library, "a.so");
  EXPECT_EQ(settings.dump_folder, "dump");
  EXPECT_EQ(settings.cache.bytes, 1000U);
  EXPECT_EQ(settings.packed_bytes, 0U);
  EXPECT_EQ(settings.num_threads, 3);
  EXPECT_TRUE(settings.contract);
}

TEST(Environment, WhatIsNotUnderstoodIsRefused) {
  testing::PlainEnvironment environment;
  environment.set("TLALOC_CODEGEN", "no");
  EXPECT_THAT(settings_from_environment,
              ThrowsMessage<UserError>(HasSubstr(
                  "TL-ENV-001: TLALOC_CODEGEN: \"no\" is not on or off; correct or unset")));
  environment.set("TLALOC_CODEGEN", std::nullopt);
  for (const char* threads : {"0", "-1", "2.5", "1025", "all", "99999999999999999999"}) {
    environment.set("TLALOC_NUM_THREADS", threads);
    EXPECT_THAT(settings_from_environment,
                ThrowsMessage<UserError>(HasSubstr("TL-ENV-001: TLALOC_NUM_THREADS: \"" +
                                                   std::string(threads) +
                                                   "\" is not a number of threads, 1 to 1024")));
  }
}

}  // namespace
}  // namespace tlaloc::cpu
