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

class Environment : public ::testing::Test {
 protected:
  Environment() {
    for (const char* name :
         {"TLALOC_CODEGEN_LIBRARY", "TLALOC_CACHE", "TLALOC_CACHE_DIR", "TLALOC_CACHE_BYTES",
          "TLALOC_DUMP", "TLALOC_NUM_THREADS", "XDG_CACHE_HOME"})
      set(name, std::nullopt);
    set("HOME", "/somewhere");
  }
  void set(const std::string& name, const std::optional<std::string>& value) {
    variables_.set(name, value);
  }

 private:
  testing::Variables variables_;
};

TEST_F(Environment, Defaults) {
  const Settings settings = settings_from_environment();
  EXPECT_EQ(settings.codegen_library, "");
  EXPECT_EQ(settings.dump_folder, "");
  EXPECT_EQ(settings.cache_folder, "/somewhere/.cache/tlaloc");
  EXPECT_EQ(settings.cache_bytes, 536870912U);
  EXPECT_EQ(settings.num_threads, 0);
}

TEST_F(Environment, Values) {
  set("TLALOC_CODEGEN_LIBRARY", "a.so");
  set("TLALOC_DUMP", "dump");
  set("TLALOC_CACHE_BYTES", "1000");
  set("TLALOC_CACHE", "on");
  set("TLALOC_NUM_THREADS", "3");
  const Settings settings = settings_from_environment();
  EXPECT_EQ(settings.codegen_library, "a.so");
  EXPECT_EQ(settings.dump_folder, "dump");
  EXPECT_EQ(settings.cache_bytes, 1000U);
  EXPECT_EQ(settings.num_threads, 3);
}

TEST_F(Environment, TheFolderOfTheCache) {
  set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(settings_from_environment().cache_folder, "/somewhere/.cache/tlaloc");
  set("XDG_CACHE_HOME", "/caches");
  EXPECT_EQ(settings_from_environment().cache_folder, "/caches/tlaloc");
  set("TLALOC_CACHE_DIR", "here");
  EXPECT_EQ(settings_from_environment().cache_folder, "here");
  set("TLALOC_CACHE", "off");
  EXPECT_EQ(settings_from_environment().cache_folder, std::nullopt);
}

TEST_F(Environment, WithoutAHomeTheFolderIsNotKnown) {
  set("HOME", std::nullopt);
  EXPECT_EQ(settings_from_environment().cache_folder, "");
}

TEST_F(Environment, WhatIsNotUnderstoodIsRefused) {
  set("TLALOC_CACHE", "no");
  EXPECT_THAT(settings_from_environment,
              ThrowsMessage<UserError>(HasSubstr(
                  "TL-ENV-001: TLALOC_CACHE: \"no\" is not on or off; correct or unset")));
  set("TLALOC_CACHE", std::nullopt);
  for (const char* bytes : {"512M", "-1", "99999999999999999999", "many"}) {
    set("TLALOC_CACHE_BYTES", bytes);
    EXPECT_THAT(settings_from_environment,
                ThrowsMessage<UserError>(HasSubstr("TL-ENV-001: TLALOC_CACHE_BYTES")));
  }
  set("TLALOC_CACHE_BYTES", std::nullopt);
  for (const char* threads : {"0", "-1", "2.5", "1025", "all", "99999999999999999999"}) {
    set("TLALOC_NUM_THREADS", threads);
    EXPECT_THAT(settings_from_environment,
                ThrowsMessage<UserError>(HasSubstr("TL-ENV-001: TLALOC_NUM_THREADS: \"" +
                                                   std::string(threads) +
                                                   "\" is not a number of threads, 1 to 1024")));
  }
}

}  // namespace
}  // namespace tlaloc::cpu
