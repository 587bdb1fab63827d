// A PJRT plugin as a back end.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/cache/settings.h"
#include "tlaloc/pjrt/client.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::plugins {

struct BackendOptions {
  std::string plugin;    ///< what find_plugin takes
  CreateOptions create;  ///< of the client
  /// Where programs are kept; nullopt: as the environment says (TLALOC_CACHE_DIR and others).
  std::optional<cache::Settings> cache;
  /// Rows kept for a `while` that records values and has no max_trips; 0: it is refused.
  std::int64_t recorded_trips = 0;
};

/// Runs on the plugin's first device, programs over a mesh on as many as that has. A graph is
/// compiled once for each list of sizes that it runs with; without symbols when it is compiled,
/// else by the first run. Runs go on after they return, but where a size, or whether a loop ended,
/// must be read first. Errors beyond those of runtime/backend.h: EnvironmentError TL-PJRT-001,
/// TL-PJRT-002; UserError TL-MESH-001 where the plugin has fewer devices; PluginError. It can't
/// look for NaN and stops a run only before it begins.
std::shared_ptr<runtime::Backend> make_backend(const BackendOptions& options = {});

/// Of an executable of such a back end: one line for each time that a run made it compile, what
/// for, where the program came from and what that took. Empty for others.
std::vector<std::string> compilations(const runtime::Bound& bound);

/// Of buffers that such a back end has, together: how they came there from the host. Nothing for
/// what was computed there, and for others.
Uploaded uploaded(std::span<const runtime::Buffer> buffers);

}  // namespace tlaloc::plugins
