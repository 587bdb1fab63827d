#include "tools/tlaloc/report_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>

namespace tlaloc::command {

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  for (const char* unit : {"kB", "MB", "GB"}) {
    if (value < 999.95) return fmt::format("{:.1f} {}", value, unit);
    value /= 1000;
  }
  return fmt::format("{:.1f} TB", value);
}
std::string count_text(std::int64_t n) {
  if (n < 1'000'000) return std::to_string(n);
  const auto value = static_cast<double>(n);
  return n < 1'000'000'000 ? fmt::format("{:.1f} M", value / 1e6)
                           : fmt::format("{:.2f} B", value / 1e9);
}
void print_line(const std::string& label, const std::string& text) {
  fmt::print(std::cout, "{:<13} {}\n", label, text);
}

}  // namespace tlaloc::command
