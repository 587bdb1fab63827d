// Environment variables that set something. UserError TL-ENV-001 for a value that is not
// understood.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

namespace tlaloc {

/// Empty where it is not set.
std::string environment(const char* name);

/// "on" or "off".
bool environment_switch(const char* name, bool otherwise);

[[noreturn]] void refuse_environment(const std::string& name, const std::string& value,
                                     const std::string& expected);

/// Leaves `n` as it is where the variable is not set.
template <class T>
void read_environment(const char* name, T& n, T least, T most, const std::string& expected) {
  const std::string text = environment(name);
  if (text.empty()) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < least || n > most)
    refuse_environment(name, text, expected);
}

}  // namespace tlaloc
