// What clients and topologies are made with.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tlaloc/pjrt/c_api.h"

namespace tlaloc::plugins {

/// By the plugin's names: {"cpu_device_count", 2}.
using CreateOptions = std::map<std::string, std::variant<std::int64_t, bool, float, std::string>>;

/// As the interface has them; they refer to `options`.
std::vector<c::NamedValue> named_values(const CreateOptions& options);

}  // namespace tlaloc::plugins
