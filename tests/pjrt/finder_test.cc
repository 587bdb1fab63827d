// Where plugins are looked for, and what is said when there is none.
#include "tlaloc/pjrt/finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "tlaloc/base/error.h"
#include "tlaloc/pjrt/plugin.h"

namespace tlaloc::plugins {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Sets a variable for a test.
class Variable {
 public:
  explicit Variable(const std::string& value, const char* name = "TLALOC_PJRT_PLUGIN")
      : name_(name), before_(std::getenv(name) ? std::getenv(name) : "") {
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
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
class Tree : public ::testing::Test {
 protected:
  Tree() {
    std::string name = (fs::temp_directory_path() / "tlaloc_finder_XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~Tree() override { fs::remove_all(root_); }
  /// An empty file.
  std::string file(const std::string& name) {
    const fs::path path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path).close();
    return path.string();
  }
  fs::path root_;
};
TEST_F(Tree, AFolderOfTheVariableIsSearched) {
  const std::string mine = file("some_plugins/mine/my_pjrt.so");
  file("other.so");
  const Variable v(root_.string());
  EXPECT_EQ(find_plugin("mine"), mine);
  const auto found = find_plugins().plugins;
  EXPECT_TRUE(std::ranges::none_of(found, [](const Found& f) { return f.name == "other"; }));
}
TEST_F(Tree, WheelsOfEveryPlatformAreKnown) {
  const std::string packages = "lib/python3.11/site-packages/";
  const std::map<std::string, std::string> wheels{
      {"cuda", file(packages + "jax_plugins/xla_cuda12/xla_cuda_plugin.so")},
      {"rocm", file(packages + "jax_plugins/xla_rocm60/xla_rocm_plugin.so")},
      {"libtpu", file(packages + "libtpu/libtpu.so")},
      {"xpu", file(packages + "jax_plugins/intel_xpu/pjrt_plugin_xpu.so")},
      {"iree", file(packages + "jax_plugins/iree_cpu/libIREEPJRT_pjrt_plugin.so")}};
  file(packages + "numpy_plugins/core/other.so");
  const Variable nothing("");
  const Variable v(root_.string(), "VIRTUAL_ENV");
  for (const auto& [name, path] : wheels) EXPECT_EQ(find_plugin(name), path);
  EXPECT_TRUE(std::ranges::none_of(find_plugins().plugins,
                                   [](const Found& f) { return f.name == "core"; }));
}
TEST_F(Tree, TheCurrentFolderIsNotSearched) {
  file(".venv/lib/python3.11/site-packages/stranger/a_pjrt.so");
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  const auto found = find_plugins();
  fs::current_path(before);
  EXPECT_TRUE(
      std::ranges::none_of(found.plugins, [](const Found& f) { return f.name == "stranger"; }));
  const Variable v((root_ / ".venv").string());
  EXPECT_THAT(find_plugin("stranger"), EndsWith("/a_pjrt.so"));
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
  EXPECT_THAT(error_of("TL-PJRT-003", [] { Plugin::load(EMPTY_PLUGIN); }),
              HasSubstr("Plugin_Initialize: UNIMPLEMENTED: the plugin's table has no function 3"));
}

}  // namespace
}  // namespace tlaloc::plugins
