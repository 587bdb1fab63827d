// A line plot as SVG.
#pragma once

#include <string>
#include <vector>

namespace digits {

/// Writes the values over their index, the vertical axis logarithmic. Throws std::runtime_error
/// when the file can't be written.
void write_curve(const std::string& path, const std::string& title, const std::vector<double>& y);

}  // namespace digits
