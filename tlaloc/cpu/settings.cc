#include "tlaloc/cpu/settings.h"

#include "tlaloc/base/environment.h"
#include "tlaloc/cpu/gang.h"

namespace tlaloc::cpu {

Settings settings_from_environment() {
  Settings settings;
  settings.codegen_library = environment("TLALOC_CODEGEN_LIBRARY");
  settings.dump_folder = environment("TLALOC_DUMP");
  settings.codegen = environment_switch("TLALOC_CODEGEN", true);
  settings.contract = environment_switch("TLALOC_CONTRACT", false);
  settings.cache = cache::settings_from_environment();
  if (!environment("TLALOC_PACKED_BYTES").empty()) {
    read_environment("TLALOC_PACKED_BYTES", settings.packed_bytes.emplace(), std::uint64_t{0},
                     UINT64_MAX, "a number of bytes");
  }
  read_environment("TLALOC_NUM_THREADS", settings.num_threads, std::int64_t{1}, kMaxThreads,
                   "a number of threads, 1 to " + std::to_string(kMaxThreads));
  return settings;
}

}  // namespace tlaloc::cpu
