// What a pullback or a linearized function holds. Internal.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "tlaloc/lang/closure.h"

namespace tlaloc::core {

/// A linear graph with its residuals bound: residuals…, inputs of the active positions… -> results
/// of the active positions….
struct LinearMap::Data {
  std::atomic<std::uint32_t> refs{1};
  const char* name = "";
  ir::GraphRef graph;
  std::vector<Ref> residuals;
  DimBinding dims;

  /// One per input or output leaf. `like` gives the shape of zeros.
  struct Slot {
    bool active = false;
    Ref like;
    std::vector<AxisLabel> labels;
    std::string path;
  };
  std::vector<Slot> in, out;
  /// The output slots that a call returns, in order.
  std::vector<std::size_t> returned;
};

enum class Direction { tangent, cotangent };
/// Linearizes f at args, with respect to the leaves of `argnums`. Returns f's results.
/// Linearizes f at args; `wanted` are the argument leaves that move. Returns f's results.
Leaves linearize_at(const OpCall& call, const Function& f, const Leaves& args,
                    std::span<const int> argnums, Direction direction, LinearMap& map);

/// Applies the map to the unit vectors of input slot k: results [elements of slot k, result...] of
/// the active outputs; absent values for the others.
std::vector<Ref> apply_to_basis(const OpCall& call, const LinearMap::Data& map, std::size_t slot);

}  // namespace tlaloc::core
