// How the command prints what it found.
#pragma once

#include <cstdint>
#include <string>

namespace tlaloc::command {

std::string bytes_text(std::int64_t bytes);  ///< "1.5 MB"
std::string count_text(std::int64_t n);      ///< "134.5 M"; below a million all digits
/// A label and what it is about, in columns; a blank parts those where the label is longer.
void print_line(const std::string& label, const std::string& text);

}  // namespace tlaloc::command
