// Counts in reports.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace tlaloc::cpu {

/// A product of sizes, rounded where it is beyond what a double counts exactly.
inline std::string count_text(double n) {
  return n < 0x1p53 ? std::to_string(static_cast<std::int64_t>(n)) : fmt::format("{:.3g}", n);
}

}  // namespace tlaloc::cpu
