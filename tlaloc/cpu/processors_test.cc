#include "tlaloc/cpu/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <string>

#include "tlaloc/cpu/testing.h"

namespace tlaloc::cpu {
namespace {

namespace fs = std::filesystem;

/// A root with these files.
class Processors : public ::testing::Test {
 protected:
  void put(const std::string& path, const std::string& text) {
    const fs::path file = folder_.path() / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text << '\n';
  }
  fs::path root() const { return folder_.path(); }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(Processors, ThoseOfTheAffinityMask) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(processors_of_process(root()), CPU_COUNT(&before));
  cpu_set_t one;
  CPU_ZERO(&one);
  for (std::size_t k = 0; k < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++k)
    if (CPU_ISSET(k, &before)) CPU_SET(k, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(processors_of_process(root()), 1);
  EXPECT_EQ(processors_of_process(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

TEST_F(Processors, WithoutControlGroups) { EXPECT_EQ(quota_of_process(root()), kNoQuota); }

TEST_F(Processors, VersionTwo) {
  put("proc/self/cgroup", "0::/a/b");
  EXPECT_EQ(quota_of_process(root()), kNoQuota);
  put("sys/fs/cgroup/a/b/cpu.max", "max 100000");
  EXPECT_EQ(quota_of_process(root()), kNoQuota);
  put("sys/fs/cgroup/a/cpu.max", "350000 100000");
  EXPECT_EQ(quota_of_process(root()), 3);
  put("sys/fs/cgroup/a/b/cpu.max", "50000 100000");
  EXPECT_EQ(quota_of_process(root()), 1);
  EXPECT_EQ(processors_of_process(root()), 1);
}

TEST_F(Processors, VersionOne) {
  put("proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/g\n1:cpuset:/\n0::/");
  put("sys/fs/cgroup/cpu,cpuacct/g/cpu.cfs_quota_us", "-1");
  put("sys/fs/cgroup/cpu,cpuacct/g/cpu.cfs_period_us", "100000");
  put("sys/fs/cgroup/memory/m/cpu.cfs_quota_us", "100000");
  put("sys/fs/cgroup/memory/m/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota_of_process(root()), kNoQuota);
  put("sys/fs/cgroup/cpu,cpuacct/g/cpu.cfs_quota_us", "200000");
  EXPECT_EQ(quota_of_process(root()), 2);
}

TEST_F(Processors, AContainerSeesItsOwnGroupAtTheTop) {
  put("proc/self/cgroup", "0::/../docker/x");
  put("sys/fs/cgroup/cpu.max", "150000 100000");
  EXPECT_EQ(quota_of_process(root()), 1);
}

TEST_F(Processors, NonsenseIsNoQuota) {
  put("proc/self/cgroup", "nothing\n0::/");
  for (const char* text : {"", "0 0", "5", "-3 -1", "x y"}) {
    put("sys/fs/cgroup/cpu.max", text);
    EXPECT_EQ(quota_of_process(root()), kNoQuota) << text;
  }
}

}  // namespace
}  // namespace tlaloc::cpu
