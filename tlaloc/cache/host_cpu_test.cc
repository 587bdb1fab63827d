#include "tlaloc/cache/host_cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

namespace tlaloc::cache {
namespace {

using ::testing::HasSubstr;

#ifdef __x86_64__
TEST(HostCpu, StartsWithTheVendor) {
  std::ifstream file("/proc/cpuinfo");
  const std::string info{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GE(host_cpu().size(), 3U);
  // In the order ebx, edx, ecx, as the manual of the instruction has it.
  const std::uint32_t words[] = {host_cpu()[0], host_cpu()[2], host_cpu()[1]};
  EXPECT_THAT(info, HasSubstr("vendor_id\t: " +
                              std::string(reinterpret_cast<const char*>(words), sizeof words)));
}
#endif

/// What Linux says of a core of a machine with ARM's Neoverse N1.
std::string core(int number, const std::string& part = "0xd0c",
                 const std::string& features = "fp asimd aes pmull sha1 sha2 crc32 atomics") {
  return "processor\t: " + std::to_string(number) + "\nBogoMIPS\t: " + std::to_string(50 + number) +
         ".00\nFeatures\t: " + features +
         "\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: " + part +
         "\nCPU revision\t: 1\n\n";
}
const std::uint64_t kCapabilities[] = {0x119fff, 0};

TEST(HostCpu, WithoutCpuidIsWhatLinuxSays) {
  const auto one = identify_cpu(core(0), kCapabilities);
  EXPECT_FALSE(one.empty());
  EXPECT_EQ(identify_cpu(core(0) + core(1) + core(2), kCapabilities), one) << "more cores";
  EXPECT_EQ(identify_cpu(core(7), kCapabilities), one) << "another core";
  EXPECT_NE(identify_cpu(core(0, "0xd40"), kCapabilities), one) << "another model";
  EXPECT_NE(identify_cpu(core(0, "0xd0c", "fp asimd"), kCapabilities), one) << "fewer instructions";
  EXPECT_NE(identify_cpu(core(0) + core(1, "0xd05"), kCapabilities), one) << "cores of two kinds";
  EXPECT_EQ(identify_cpu(core(0, "0xd05") + core(1), kCapabilities),
            identify_cpu(core(0) + core(1, "0xd05"), kCapabilities));
  const std::uint64_t more[] = {0x119fff, 2};
  EXPECT_NE(identify_cpu("", more), identify_cpu("", kCapabilities)) << "the auxiliary vector";
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
}  // namespace tlaloc::cache
