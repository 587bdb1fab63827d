// Plans how a graph runs on the host.
#pragma once

#include <memory>

#include "tlaloc/cpu/program.h"

namespace tlaloc::cpu {

/// Everything that does not depend on sizes or values: what is computed in one loop, where values
/// lie and for how long, what is updated in place. UserError TL-BACKEND-001 for what can't run
/// here.
std::shared_ptr<const Program> plan(const ir::GraphRef& g);

}  // namespace tlaloc::cpu
