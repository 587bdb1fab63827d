// IREE as a back end.
#pragma once

#include <memory>
#include <optional>

#include "tlaloc/cache/settings.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::iree {

struct BackendOptions {
  /// Where modules are kept; nullopt: as the environment says (TLALOC_CACHE_DIR and others).
  std::optional<cache::Settings> cache;
  /// Rows kept for a `while` that records values and has no max_trips; 0: it is refused.
  std::int64_t recorded_trips = 0;
};

/// Compiles in this process, once for each list of sizes that a graph runs with, and runs each time
/// in a process of its own: a way to check that IREE agrees, not a way to be fast. Values lie on
/// the host. Nothing is computed when parameters are bound, results never take over memory, and a
/// run can't be cancelled once it began. Errors beyond those of runtime/backend.h: EnvironmentError
/// TL-IREE-001, TL-IREE-002, TL-IREE-003.
std::shared_ptr<runtime::Backend> make_backend(const BackendOptions& options = {});

}  // namespace tlaloc::iree
