// Puts planned storages into one block of memory.
#pragma once

#include <cstddef>
#include <vector>

#include "tlaloc/cpu/program.h"

namespace tlaloc::cpu {

struct ArenaPlan {
  std::vector<std::size_t> offsets;  ///< by StorageId; only those of planned storages count
  std::size_t bytes = 0;
};
/// Places for the sizes in `slots`: storages that hold something at one time do not overlap.
/// UserError TL-SIZE-001 when the sizes don't fit 64 bits.
ArenaPlan plan_arena(const Program& p, const std::vector<std::int64_t>& slots);

}  // namespace tlaloc::cpu
