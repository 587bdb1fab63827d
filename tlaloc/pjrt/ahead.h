// Compiling for devices that are not here. Nothing is run: what comes out says what the plugin's
// compiler accepts, and what the program takes of the device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "tlaloc/pjrt/create_options.h"
#include "tlaloc/pjrt/device_code.h"

namespace tlaloc::plugins {

/// A kind of device, and how its plugin knows it.
struct AheadTarget {
  std::string_view name;         ///< "tpu-v5e"
  std::string_view description;  ///< "four chips of TPU v5e"
  std::string_view plugin;       ///< for find_plugin
  std::string_view topology;     ///< in the plugin's words
  std::string_view config;       ///< of a GPU, as text; or empty
};
std::span<const AheadTarget> ahead_targets();
/// UserError TL-PJRT-004 for a name that there is not, with those that there are.
const AheadTarget& ahead_target(std::string_view name);

/// For programs that have no TPU: sets what libtpu reads from the environment, where it is not set.
/// Without that it asks a service on the network where it is, for minutes, and takes a lock that no
/// other process may hold. Call it before there are other threads, which may read the environment.
void keep_libtpu_quiet();

/// Devices as a plugin describes them without having any. Safe to use from any thread.
class Topology {
 public:
  /// Loads the plugin. EnvironmentError TL-PJRT-001, TL-PJRT-002; PluginError.
  explicit Topology(const AheadTarget& target);
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  const Plugin& plugin() const { return plugin_; }
  std::size_t device_count() const;
  /// From StableHLO text, as Client::compile. PluginError.
  std::unique_ptr<const DeviceCode> compile(std::string_view module, std::int64_t replicas = 1,
                                            std::int64_t partitions = 1) const;

 private:
  const Plugin& plugin_;
  c::TopologyDescription* topology_ = nullptr;
};

}  // namespace tlaloc::plugins
