#include "tlaloc/cpu/settings.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "tlaloc/base/error.h"

namespace tlaloc::cpu {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[noreturn]] void refuse(const std::string& name, const std::string& value,
                         const std::string& expected) {
  throw UserError({"TL-ENV-001",
                   name,
                   "\"" + value + "\" is not " + expected,
                   "correct or unset the environment variable",
                   {}});
}

bool is_on(const char* name) {
  const std::string value = variable(name);
  if (!value.empty() && value != "on" && value != "off") refuse(name, value, "on or off");
  return value != "off";
}

std::string default_cache_folder() {
  // The standard says that a relative path is to be ignored.
  if (const std::string base = variable("XDG_CACHE_HOME"); base.starts_with('/'))
    return base + "/tlaloc";
  const std::string home = variable("HOME");
  return home.empty() ? "" : home + "/.cache/tlaloc";
}

}  // namespace

Settings settings_from_environment() {
  Settings settings;
  settings.codegen_library = variable("TLALOC_CODEGEN_LIBRARY");
  settings.dump_folder = variable("TLALOC_DUMP");
  settings.codegen = is_on("TLALOC_CODEGEN");
  if (is_on("TLALOC_CACHE")) {
    settings.cache_folder = variable("TLALOC_CACHE_DIR");
    if (settings.cache_folder->empty()) settings.cache_folder = default_cache_folder();
  }
  if (const std::string text = variable("TLALOC_CACHE_BYTES"); !text.empty()) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), settings.cache_bytes);
    if (error != std::errc() || end != text.data() + text.size())
      refuse("TLALOC_CACHE_BYTES", text, "a number of bytes");
  }
  return settings;
}

}  // namespace tlaloc::cpu
