// What plugins read of a compilation: the module, and its options as the protocol buffer
// CompileOptionsProto.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tlaloc/pjrt/c_api.h"

namespace tlaloc::plugins {

/// For that many replicas of one module, each on that many devices, with every operation rounded to
/// its own type.
std::string compile_options(std::int64_t replicas, std::int64_t partitions);

/// StableHLO text or a portable artifact; refers to `module`.
c::Program module_argument(std::string_view module);

}  // namespace tlaloc::plugins
