// Which operations of a graph are computed together, in the loop of one of them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::cpu {

enum class NodeClass : std::uint8_t {
  leaf,         ///< needs no operands: a constant, an iota, a size
  elementwise,  ///< has a tile kernel
  moved,        ///< the same elements elsewhere: a view, mostly
  fold,         ///< a reduction with tile kernels
  other,
};
NodeClass class_of(const ir::Graph& g, const ir::Node& n);

struct Groups {
  std::vector<NodeClass> classes;  ///< by node
  /// By node: the one in whose loop it is computed; itself if its value lies in memory.
  std::vector<std::uint32_t> root;
  /// Values that nothing reads but one transpose, and that.
  std::unordered_map<ir::ValueId, std::uint32_t> turned;
  /// Updates at known places with what lies there and a value added to it, as gradients of slices
  /// are added up: the addition and the slice before it, which nothing else reads.
  struct Added {
    ir::ValueId value;       ///< what is added
    bool behind;             ///< it is the addition's second operand
    std::uint32_t addition;  ///< node
  };
  std::unordered_map<std::uint32_t, Added> added;
  std::vector<bool> absorbed;  ///< by node: whether it is a part of such an update
  /// By value: whether nothing reads it but scans, row by row.
  std::vector<bool> by_rows;
};
/// Joins an operation with what reads it where that is one group alone, so that no value is
/// computed twice.
Groups find_groups(const ir::Graph& g);

}  // namespace tlaloc::cpu
