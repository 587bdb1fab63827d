// What the environment says of compiling and running.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tlaloc::cpu {

struct Settings {
  bool codegen = true;          ///< TLALOC_CODEGEN=off: precompiled kernels only
  std::string codegen_library;  ///< TLALOC_CODEGEN_LIBRARY; empty: to be found
  /// TLALOC_CACHE_DIR, or tlaloc in XDG_CACHE_HOME or in ~/.cache; empty where neither is known;
  /// nullopt with TLALOC_CACHE=off.
  std::optional<std::string> cache_folder;
  std::uint64_t cache_bytes = std::uint64_t{512} << 20;  ///< TLALOC_CACHE_BYTES
  std::string dump_folder;                               ///< TLALOC_DUMP; empty: no dump
  std::int64_t num_threads = 0;  ///< TLALOC_NUM_THREADS, 1 to kMaxThreads; 0: it does not say
};

/// UserError TL-ENV-001 for a value that is not understood.
Settings settings_from_environment();

}  // namespace tlaloc::cpu
