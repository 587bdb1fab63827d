#include "tlaloc/lang/target.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tlaloc/pjrt/pjrt_backend.h"

namespace tlaloc {

Target pjrt(const char* plugin, long long recorded_trips) {
  static std::mutex mutex;
  static auto* backends =
      new std::map<std::pair<std::string, long long>, std::shared_ptr<runtime::Backend>>;
  const std::lock_guard lock(mutex);
  auto& backend = (*backends)[{plugin, recorded_trips}];
  if (!backend) {
    backend = plugins::make_backend({.plugin = plugin, .recorded_trips = recorded_trips});
  }
  return Target(*backend);
}

}  // namespace tlaloc
