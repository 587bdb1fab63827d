#include "tlaloc/cache/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/cache/testing.h"

namespace tlaloc::cache {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Environment, TheFolderOfTheCache) {
  testing::PlainEnvironment environment;
  environment.set("XDG_CACHE_HOME", "relative");
  EXPECT_EQ(settings_from_environment().folder, "/somewhere/.cache/tlaloc");
  environment.set("XDG_CACHE_HOME", "/caches");
  EXPECT_EQ(settings_from_environment().folder, "/caches/tlaloc");
  environment.set("TLALOC_CACHE_DIR", "here");
  EXPECT_EQ(settings_from_environment().folder, "here");
  environment.set("TLALOC_CACHE", "off");
  EXPECT_EQ(settings_from_environment().folder, std::nullopt);
}

TEST(Environment, WithoutAHomeTheFolderIsNotKnown) {
  testing::PlainEnvironment environment;
  environment.set("HOME", std::nullopt);
  EXPECT_EQ(settings_from_environment().folder, "");
}

TEST(Environment, WhatIsNotUnderstoodIsRefused) {
  testing::PlainEnvironment environment;
  environment.set("TLALOC_CACHE", "no");
  EXPECT_THAT(settings_from_environment,
              ThrowsMessage<UserError>(HasSubstr(
                  "TL-ENV-001: TLALOC_CACHE: \"no\" is not on or off; correct or unset")));
  environment.set("TLALOC_CACHE", std::nullopt);
  for (const char* bytes : {"512M", "-1", "99999999999999999999", "many"}) {
    environment.set("TLALOC_CACHE_BYTES", bytes);
    EXPECT_THAT(settings_from_environment,
                ThrowsMessage<UserError>(HasSubstr("TL-ENV-001: TLALOC_CACHE_BYTES")));
  }
}

}  // namespace
}  // namespace tlaloc::cache
