// What clients and topologies are made with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tlaloc/pjrt/c_api.h"

namespace tlaloc::plugins {

/// By the plugin's names: {"cpu_device_count", 2}.
using CreateOptions = std::map<std::string, std::variant<std::int64_t, bool, float, std::string>>;

/// `given`, and what a plugin for GPUs is asked for unless `given` says otherwise: "preallocate" is
/// false, so that a process does not take most of the device's memory when it starts. By the path
/// of the plugin, which is all that is known before it has a client; other plugins get nothing
/// more, as they refuse options that they don't know.
CreateOptions with_defaults(std::string_view plugin, CreateOptions given);

/// As the interface has them; they refer to `options`.
std::vector<c::NamedValue> named_values(const CreateOptions& options);

}  // namespace tlaloc::plugins
