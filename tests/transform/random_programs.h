// Random programs over scalars, one array and loop counters: nested loops of run-time length,
// branches that contain loops, array updates, histories, calls. Every seed gives the same program
// everywhere.
#pragma once

#include <cstdint>

#include "tests/transform/program.h"

namespace tlaloc::testing {

/// (x: f64[], y: f64[], a: f64[n], k: i64[]) -> f64[], with arguments for it.
Program random_program(std::uint64_t seed, int depth = 3);

}  // namespace tlaloc::testing
