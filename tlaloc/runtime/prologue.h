// Splits a graph into what depends on some parameters only and the rest.
#pragma once

#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::runtime {

struct Split {
  /// Bound params, in order -> hoisted values. Its result dims are the values of `dims`.
  ir::GraphRef prologue;
  /// Hoisted values, then the other params, in order -> the graph's results. Its result dims are
  /// the graph's, then sizes that only its constraints speak of. Its entry dims may include symbols
  /// that only bound params or hoisted nodes determine.
  ir::GraphRef main;
  /// What the prologue knows: symbols of the graph's entry and of hoisted nodes.
  std::vector<ir::Symbol> dims;
};

/// `bound`: one flag per param. What has an effect is never hoisted, nor are nodes with a flag in
/// `stays`, which may be empty. No constraint is lost.
Split split_prologue(const ir::Graph& g, const std::vector<bool>& bound,
                     const std::vector<bool>& stays = {});

}  // namespace tlaloc::runtime
