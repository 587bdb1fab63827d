#include "tools/tlaloc/backend.h"

#include <fmt/format.h>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/iree/iree_backend.h"
#include "tlaloc/pjrt/pjrt_backend.h"

namespace tlaloc::command {
namespace {

/// One that lives until the process ends.
std::shared_ptr<runtime::Backend> shared(runtime::Backend& b) {
  return {&b, [](auto*) {}};
}

}  // namespace

std::shared_ptr<runtime::Backend> choose_backend(const BackendArguments& a) {
  if (a.devices > 0 && !a.name.starts_with("pjrt")) {
    throw UserError({"TL-BACKEND-002",
                     "tlaloc",
                     "--devices is for plugins: '" + a.name +
                         "' has one device, which does the "
                         "work of all",
                     "leave it out, or choose pjrt or pjrt:<plugin>",
                     {}});
  }
  if (a.name == "interp") return shared(interp::interp_backend());
  if (a.name == "cpu") return shared(cpu::cpu_backend());
  constexpr std::string_view kPjrt = "pjrt:";
  if (a.name == "pjrt" || a.name.starts_with(kPjrt)) {
    plugins::BackendOptions options;
    if (a.name.size() > kPjrt.size()) options.plugin = a.name.substr(kPjrt.size());
    options.recorded_trips = a.recorded_trips;
    if (a.devices > 0) options.create["cpu_device_count"] = a.devices;
    auto made = plugins::make_backend(options);
    if (a.devices > 0 && made->name() != "pjrt:cpu") {
      throw UserError({"TL-BACKEND-002",
                       "--devices",
                       fmt::format("{} has the devices that it has", made->name()),
                       "leave it out",
                       {}});
    }
    return made;
  }
  if (a.name == "iree") return iree::make_backend({.recorded_trips = a.recorded_trips});
  throw UserError({"TL-BACKEND-002",
                   "tlaloc",
                   "there is no back end '" + a.name + "'",
                   "interp, cpu, pjrt, pjrt:<plugin> or iree; `tlaloc doctor` lists what there is",
                   {}});
}

}  // namespace tlaloc::command
