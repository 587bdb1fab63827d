// Which storages are one, and when each holds something.
#pragma once

#include "tlaloc/cpu/emitter.h"

namespace tlaloc::cpu {

/// Merges storages that a copy connects where the copied one is not read as it was afterwards,
/// drops those copies, and finds the lifetimes of what is planned.
void finish_storages(Emitter& e);

}  // namespace tlaloc::cpu
