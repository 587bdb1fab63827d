#include "tlaloc/cpu/processors.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

namespace tlaloc::cpu {
namespace {

namespace fs = std::filesystem;

std::int64_t processors_of_thread() {
  // More processors than a set of the usual size holds make the call fail.
  for (int most = CPU_SETSIZE; most <= (1 << 20); most *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(most),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    if (set && sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
  }
  return std::thread::hardware_concurrency();
}

std::int64_t processors(double quota, double period) {
  return quota > 0 && period > 0
             ? std::max<std::int64_t>(1, static_cast<std::int64_t>(quota / period))
             : kNoQuota;
}

/// Version 2 has "QUOTA PERIOD" in one file, "max" without a quota; version 1 two files.
std::int64_t quota_of(const fs::path& folder) {
  double quota = 0, period = 0;
  if (std::ifstream both(folder / "cpu.max"); both >> quota >> period)
    return processors(quota, period);
  std::ifstream(folder / "cpu.cfs_quota_us") >> quota;
  std::ifstream(folder / "cpu.cfs_period_us") >> period;
  return processors(quota, period);
}

/// Of a group and all those it is in. In a container the group's own path may not be there, but its
/// files are at the top.
std::int64_t quota_of(const fs::path& mount, const fs::path& group) {
  std::int64_t least = quota_of(mount);
  fs::path folder = mount;
  for (const fs::path& name : group.relative_path())
    least = std::min(least, quota_of(folder /= name));
  return least;
}

}  // namespace

std::int64_t quota_of_process(const fs::path& root) {
  const fs::path mounts = root / "sys/fs/cgroup";
  std::int64_t least = kNoQuota;
  std::ifstream groups(root / "proc/self/cgroup");
  // "ID:CONTROLLERS:PATH"; version 2 has no controllers.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (controllers.empty()) {
      least = std::min(least, quota_of(mounts, group));
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      least = std::min(least, quota_of(mounts / controllers, group));
    }
  }
  return least;
}

std::int64_t processors_of_process(const fs::path& root) {
  return std::max<std::int64_t>(1, std::min(processors_of_thread(), quota_of_process(root)));
}

}  // namespace tlaloc::cpu
