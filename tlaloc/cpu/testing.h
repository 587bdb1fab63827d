// For tests of compiled code.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "tlaloc/cache/testing.h"

namespace tlaloc::cpu::testing {

/// Tests that compile; they are skipped, and say so, in a build without LLVM.
class CodegenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string_view(TLALOC_LLVM_VERSION).empty()) GTEST_SKIP() << "built without LLVM";
  }
};

using cache::testing::PlainEnvironment;
using cache::testing::TemporaryFolder;
using cache::testing::Variables;

/// The line of /proc/self/maps that covers the address; empty without.
inline std::string mapping_of(const void* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t start = 0, end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> start >> dash >> end;
    if (start <= wanted && wanted < end) return line;
  }
  return {};
}

/// Whether a file whose path contains `name` is mapped.
inline bool is_loaded(std::string_view name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find(name) != std::string::npos) return true;
  return false;
}

}  // namespace tlaloc::cpu::testing
