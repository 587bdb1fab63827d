// How many threads compute.
#pragma once

#include <cstdint>

namespace tlaloc {

/// How many threads compute, callers included: what set_num_threads() or TLALOC_NUM_THREADS said,
/// else as many as there are processors for this process. Results are the same bits for any number.
/// UserError TL-ENV-001 where the variable is not understood.
std::int64_t num_threads();
/// From the next computation on, in all threads. UserError TL-THREADS-001 unless 1 <= n <= 1024.
void set_num_threads(std::int64_t n);

}  // namespace tlaloc
