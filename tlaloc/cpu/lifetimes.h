// Which storages are one, and when each holds something.
#pragma once

#include <span>

#include "tlaloc/cpu/emitter.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::cpu {

/// Merges storages that a copy connects where the copied one is not read as it was afterwards,
/// drops those copies, and finds the lifetimes of what is planned.
/// Results lie in the arguments of `aliases` where they can and those are donated.
void finish_storages(Emitter& e, std::span<const runtime::Alias> aliases);

}  // namespace tlaloc::cpu
