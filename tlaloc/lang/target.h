// jit on a device other than the host: tl::jit(f, tl::pjrt("xla_cpu_pjrt")).
#pragma once

#include "tlaloc/lang/jit.h"

namespace tlaloc {
namespace runtime {
class Backend;
}

/// A back end that compiled functions can run on. Cheap to copy; what it stands for lives until the
/// process ends.
class Target {
 public:
  explicit Target(runtime::Backend& backend) : backend_(&backend) {}
  runtime::Backend& backend() const { return *backend_; }

 private:
  runtime::Backend* backend_;
};

/// The first device of a PJRT plugin, by its path, its name, or a part of one name only; empty: of
/// the first plugin that is found (docs/pjrt.md). The plugin is loaded here. `recorded_trips`: how
/// many trips a loop without max_trips may have whose derivative is taken; 0: such a loop is
/// refused. Errors: EnvironmentError TL-PJRT-001, TL-PJRT-002, TL-PJRT-003.
Target pjrt(const char* plugin = "", long long recorded_trips = 0);

namespace core {
JitCache jit_cache_on(Target target);
}

/// jit, compiled and run by `target`: once for each list of sizes where it wants them known. With
/// the NaN mode on, the interpreter runs as everywhere. Errors: as jit; at run time TL-BACKEND-001
/// (what the target can't do), TL-PJRT-003 (what it refuses).
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::JitPolicy, F>>
detail::Transform<detail::JitPolicy, F> jit(F f, Target target, Where where = Where::current()) {
  return {std::move(f), where, core::jit_cache_on(target)};
}
template <class F, class R = detail::ResultOf<F>,
          auto Why = detail::kTransform<detail::JitPolicy, F>>
  requires IsMistake<Why>
detail::Transform<detail::JitPolicy, F> jit(F, Target, Where = Where::current()) = delete;

}  // namespace tlaloc
