#include "tlaloc/cache/settings.h"

#include "tlaloc/base/environment.h"

namespace tlaloc::cache {
namespace {

std::string default_folder() {
  // The standard says that a relative path is to be ignored.
  if (const std::string base = environment("XDG_CACHE_HOME"); base.starts_with('/'))
    return base + "/tlaloc";
  const std::string home = environment("HOME");
  return home.empty() ? "" : home + "/.cache/tlaloc";
}

}  // namespace

Settings settings_from_environment() {
  Settings settings;
  if (environment_switch("TLALOC_CACHE", true)) {
    settings.folder = environment("TLALOC_CACHE_DIR");
    if (settings.folder->empty()) settings.folder = default_folder();
  }
  read_environment("TLALOC_CACHE_BYTES", settings.bytes, std::uint64_t{0}, UINT64_MAX,
                   "a number of bytes");
  return settings;
}

}  // namespace tlaloc::cache
