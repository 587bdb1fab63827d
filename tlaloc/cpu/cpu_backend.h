// The host's processor as a back end.
#pragma once

#include "tlaloc/runtime/backend.h"

namespace tlaloc::cpu {

/// One compile serves every size of a symbolic axis. Refuses RunOptions::check_nan, which the
/// interpreter serves.
runtime::Backend& cpu_backend();

}  // namespace tlaloc::cpu
