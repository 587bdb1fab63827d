// What the environment says of compiling and running.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tlaloc/cache/settings.h"

namespace tlaloc::cpu {

struct Settings {
  bool codegen = true;  ///< TLALOC_CODEGEN=off: precompiled kernels only
  /// TLALOC_CONTRACT=on: in compiled code a * b + c rounds once where the processor can.
  bool contract = false;
  std::string codegen_library;  ///< TLALOC_CODEGEN_LIBRARY; empty: to be found
  cache::Settings cache;
  /// TLALOC_PACKED_BYTES; nullopt: it does not say.
  std::optional<std::uint64_t> packed_bytes;
  std::string dump_folder;       ///< TLALOC_DUMP; empty: no dump
  std::int64_t num_threads = 0;  ///< TLALOC_NUM_THREADS, 1 to kMaxThreads; 0: it does not say
};

/// UserError TL-ENV-001 for a value that is not understood.
Settings settings_from_environment();

}  // namespace tlaloc::cpu
