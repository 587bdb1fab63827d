// Where plugins are looked for, and what is said when there is none.
#include "tlaloc/pjrt/finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tlaloc/base/error.h"
#include "tlaloc/pjrt/plugin.h"

namespace tlaloc::plugins {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Sets TLALOC_PJRT_PLUGIN for a test.
class Variable {
 public:
  explicit Variable(const std::string& value) { setenv("TLALOC_PJRT_PLUGIN", value.c_str(), 1); }
  ~Variable() { unsetenv("TLALOC_PJRT_PLUGIN"); }
};

template <class F>
std::string error_of(const char* code, F f) {
  try {
    f();
  } catch (const EnvironmentError& e) {
    EXPECT_EQ(e.code(), code);
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

TEST(Finder, FindsWhatSetupInstalls) {
  EXPECT_THAT(find_plugin("xla_cpu_pjrt"), EndsWith("/xla_cpu_pjrt.so"));
  EXPECT_THAT(find_plugin("lammps"), EndsWith("/pjrt_c_api_cpu_plugin.so"));
}
TEST(Finder, TheVariableComesFirst) {
  const Variable v("nowhere:" OLD_PLUGIN);
  EXPECT_EQ(find_plugin(""), std::filesystem::absolute(OLD_PLUGIN).string());
}
TEST(Finder, AFolderOfTheVariableIsSearched) {
  const auto folder = std::filesystem::temp_directory_path() / "tlaloc_finder_test";
  std::filesystem::create_directories(folder / "some_plugins" / "mine");
  std::ofstream(folder / "some_plugins" / "mine" / "my_pjrt.so").close();
  std::ofstream(folder / "other.so").close();
  const Variable v(folder.string());
  EXPECT_EQ(find_plugin("mine"), (folder / "some_plugins" / "mine" / "my_pjrt.so").string());
  const auto found = find_plugins().plugins;
  EXPECT_TRUE(std::ranges::none_of(found, [](const Found& f) { return f.name == "other"; }));
  std::filesystem::remove_all(folder);
}
TEST(Finder, SaysWhatThereIsAndWhereItLooked) {
  const std::string text = error_of("TL-PJRT-001", [] { find_plugin("tpu9"); });
  EXPECT_THAT(text, HasSubstr("no plugin is called 'tpu9'"));
  EXPECT_THAT(text, HasSubstr(" xla_cpu_pjrt"));
  EXPECT_THAT(text, HasSubstr("site-packages"));
  EXPECT_THAT(text, HasSubstr("TLALOC_PJRT_PLUGIN"));
  EXPECT_THAT(error_of("TL-PJRT-001", [] { find_plugin("cpu"); }),
              HasSubstr("several plugins are called 'cpu'"));
}

TEST(PluginFile, WhatIsNoPluginIsRefused) {
  EXPECT_THAT(error_of("TL-PJRT-002", [] { Plugin::load("/nowhere/x.so"); }),
              HasSubstr("there is no such plugin"));
  EXPECT_THAT(error_of("TL-PJRT-002", [] { Plugin::load("README.md"); }),
              HasSubstr("it can't be loaded"));
  EXPECT_THAT(error_of("TL-PJRT-002", [] { Plugin::load(FOREIGN_PLUGIN); }),
              HasSubstr("it has no GetPjrtApi"));
  EXPECT_THAT(error_of("TL-PJRT-002", [] { Plugin::load(OLD_PLUGIN); }),
              HasSubstr("it speaks version 0.40 of the PJRT interface, Tlaloc speaks 0.81"));
}

}  // namespace
}  // namespace tlaloc::plugins
