// The plugins that tests run on: two for the CPU, or that of the device which TLALOC_TEST_DEVICE
// names. Where it is not there, each test ends with TL-PJRT-001.
#pragma once

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

namespace tlaloc::plugins {

/// "cpu" where the variable is not set.
inline const char* test_device() {
  const char* set = std::getenv("TLALOC_TEST_DEVICE");
  return set && *set ? set : "cpu";
}
inline bool on_cpu() { return test_device() == std::string_view("cpu"); }

/// Names for find_plugin.
inline std::vector<const char*> tested_plugins() {
  if (on_cpu()) return {"xla_cpu_pjrt", "lammps_jax_pjrt_cpu"};
  constexpr std::array<std::pair<std::string_view, const char*>, 3> kKnown{
      {{"cuda", "xla_cuda"}, {"rocm", "xla_rocm"}, {"tpu", "libtpu"}}};
  for (const auto& [device, plugin] : kKnown) {
    if (device == test_device()) return {plugin};
  }
  return {test_device()};  // called as its device: metal
}

/// Another one than `plugin`; null where there is none.
inline const char* other_plugin(std::string_view plugin) {
  for (const char* p : tested_plugins()) {
    if (p != plugin) return p;
  }
  return nullptr;
}

}  // namespace tlaloc::plugins
