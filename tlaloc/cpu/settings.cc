#include "tlaloc/cpu/settings.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/gang.h"

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

/// Leaves `n` as it is where the variable is not set.
template <class T>
void read_number(const char* name, T& n, T least, T most, const std::string& expected) {
  const std::string text = variable(name);
  if (text.empty()) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < least || n > most)
    refuse(name, text, expected);
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
  read_number("TLALOC_CACHE_BYTES", settings.cache_bytes, std::uint64_t{0}, UINT64_MAX,
              "a number of bytes");
  read_number("TLALOC_NUM_THREADS", settings.num_threads, std::int64_t{1}, kMaxThreads,
              "a number of threads, 1 to " + std::to_string(kMaxThreads));
  return settings;
}

}  // namespace tlaloc::cpu
