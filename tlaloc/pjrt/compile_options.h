// The options of a compilation, as the protocol buffer CompileOptionsProto that plugins read.
#pragma once

#include <cstdint>
#include <string>

namespace tlaloc::plugins {

/// For that many replicas of one module, with every operation rounded to its own type.
std::string compile_options(std::int64_t replicas);

}  // namespace tlaloc::plugins
