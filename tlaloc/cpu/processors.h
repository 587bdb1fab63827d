// How many processors there are for this process.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tlaloc::cpu {

/// Processors that the calling thread may run on, and whose time the process' control groups grant:
/// a quota of 2.5 processors is 2, since threads beyond it would all be stopped at times. At least
/// 1. `root`: where /proc and /sys are.
std::int64_t processors_of_process(const std::filesystem::path& root = "/");

/// What the control groups alone grant, at least 1; kNoQuota without a quota.
inline constexpr std::int64_t kNoQuota = INT64_MAX;
std::int64_t quota_of_process(const std::filesystem::path& root);

}  // namespace tlaloc::cpu
