#include "tlaloc/cpu/host_cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

namespace tlaloc::cpu {
namespace {

using ::testing::HasSubstr;

TEST(HostCpu, StartsWithTheVendor) {
  std::ifstream file("/proc/cpuinfo");
  const std::string info{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GE(host_cpu().size(), 3U);
  // In the order ebx, edx, ecx, as the manual of the instruction has it.
  const std::uint32_t words[] = {host_cpu()[0], host_cpu()[2], host_cpu()[1]};
  EXPECT_THAT(info, HasSubstr("vendor_id\t: " +
                              std::string(reinterpret_cast<const char*>(words), sizeof words)));
}

TEST(HostCpu, IsTheSameOnEveryCore) {
  const unsigned count = std::min(std::thread::hardware_concurrency(), 64U);
  for (unsigned core = 0; core < count; ++core)
    std::thread([core] {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      if (sched_setaffinity(0, sizeof one, &one) == 0) {
        EXPECT_EQ(identify_host_cpu(), host_cpu());
      }
    }).join();
}

}  // namespace
}  // namespace tlaloc::cpu
