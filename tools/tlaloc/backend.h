// The back ends that the command runs programs on.
#pragma once

#include <memory>

#include "tlaloc/runtime/backend.h"
#include "tools/tlaloc/commands.h"

namespace tlaloc::command {

/// UserError TL-BACKEND-002 for one that there is not; EnvironmentError TL-PJRT-001, TL-PJRT-002
/// and PluginError from plugins.
std::shared_ptr<runtime::Backend> choose_backend(const BackendArguments& a);

}  // namespace tlaloc::command
