// What the interpreter works out once per graph: where values live, which use is the last one.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::interp {

/// A slot, and whether this use is the last one: then the value is moved out, which is what lets an
/// op update it in place.
struct Use {
  std::uint32_t word;
  std::uint32_t slot() const { return word >> 1; }
  bool last() const { return word & 1; }
};

struct TypeInfo {
  ir::Type type;
  DType dtype;
  Extents extents;  ///< when the type has no symbols
};

/// One graph, without what its regions hold. Immutable.
struct Plan {
  static constexpr std::uint32_t kDiscard = ~std::uint32_t{0};
  static constexpr std::uint32_t kEntry = ~std::uint32_t{0};

  const ir::Graph* graph = nullptr;
  std::uint32_t slot_count = 0;
  std::vector<Use> operands;              ///< of all nodes, in node order
  std::vector<Use> results;               ///< of the graph
  std::vector<std::uint32_t> slots;       ///< by ValueId; kDiscard for what nobody reads
  std::vector<std::uint32_t> type_index;  ///< by ValueId, into types
  std::vector<TypeInfo> types;
  std::vector<const Plan*> regions;  ///< of all nodes, in node order
  /// By node: an iota that only scans read, element by element. Nobody makes it: the scans count.
  std::vector<bool> counts;
  /// Position of a symbol's value in a frame: entry dims in order, then bound ones in node order.
  std::unordered_map<std::uint32_t, std::uint32_t> sizes;
  /// Constraints by the node after which they can be checked (kEntry: at once), in that order.
  struct Check {
    std::uint32_t node;
    std::uint32_t constraint;
  };
  std::vector<Check> checks;

  const TypeInfo& type(ir::ValueId v) const { return types[type_index[v]]; }
};

/// The plans of a graph and of all graphs inside it. Immutable: one program may run in many threads
/// at once. The graph must outlive it. One device does the work of a whole mesh.
class Program {
 public:
  explicit Program(const ir::Graph& g);
  const Plan& entry() const { return *entry_; }

 private:
  const Plan* plan(const ir::Graph& g);
  ir::GraphRef local_;  // where the program is over a mesh
  std::unordered_map<const ir::Graph*, std::unique_ptr<Plan>> plans_;
  const Plan* entry_;
};

}  // namespace tlaloc::interp
