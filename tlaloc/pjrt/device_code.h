// What a plugin made of a module, whether its device is here or not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tlaloc/pjrt/plugin.h"

namespace tlaloc::plugins {

struct MemoryStats {
  std::int64_t code, arguments, outputs, aliased, temporary, peak;  ///< bytes
};

/// Code for a kind of device. Immutable; safe to use from any thread.
class DeviceCode {
 public:
  /// Takes the executable over.
  DeviceCode(const Plugin& plugin, c::Executable* executable)
      : plugin_(plugin), executable_(executable) {}
  ~DeviceCode();
  DeviceCode(const DeviceCode&) = delete;
  DeviceCode& operator=(const DeviceCode&) = delete;

  /// What the plugin says of it; nothing where it can't tell.
  std::optional<MemoryStats> memory() const;
  std::optional<std::map<std::string, double>> costs() const;
  /// For Client::load of the same plugin. PluginError.
  std::string serialize() const;
  std::size_t output_count() const;

 private:
  const Plugin& plugin_;
  c::Executable* executable_;
};

}  // namespace tlaloc::plugins
