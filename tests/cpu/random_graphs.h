// Random graphs over matrices, vectors and numbers of one size: operations that share loops, views,
// updates at places that are data, branches and loops in each other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/transform/program.h"

namespace tlaloc::testing {

struct RandomGraph {
  /// (m: t[n, n], m: t[n, n], v: t[n], s: t[]) -> …, for t i32 or f32, small integers exact in
  /// both.
  GraphRef graph;
  DType dtype;
  std::optional<std::int64_t> size;  ///< none: n is a symbol
};
/// Every seed gives the same graph everywhere.
RandomGraph random_graph(std::uint64_t seed);
/// Arguments of that size: integers from -3 to 5, -0 among the floats.
std::vector<HostArray> random_arguments(const RandomGraph& g, std::int64_t size,
                                        std::uint64_t seed);

}  // namespace tlaloc::testing
