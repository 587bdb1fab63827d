// A PJRT plugin as a back end.
#pragma once

#include <memory>
#include <string>

#include "tlaloc/pjrt/client.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::plugins {

struct BackendOptions {
  std::string plugin;    ///< what find_plugin takes
  CreateOptions create;  ///< of the client
  /// Rows kept for a `while` that records values and has no max_trips; 0: it is refused.
  std::int64_t recorded_trips = 0;
};

/// Runs on the plugin's first device. A graph is compiled once for each list of sizes that it runs
/// with; without symbols when it is compiled, else by the first run. Runs go on after they return,
/// but where a size, or whether a loop ended, must be read first. Errors beyond those of
/// runtime/backend.h: EnvironmentError TL-PJRT-001, TL-PJRT-002; PluginError. It can't look for NaN
/// and stops a run only before it begins.
std::shared_ptr<runtime::Backend> make_backend(const BackendOptions& options = {});

}  // namespace tlaloc::plugins
