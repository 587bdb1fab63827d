// The interpreter as a back end: what the others are compared with.
#pragma once

#include "tlaloc/runtime/backend.h"

namespace tlaloc::interp {

/// Runs on the host, in the caller's thread. An alias that must hold is checked by each run.
runtime::Backend& interp_backend();

}  // namespace tlaloc::interp
