// The rules of nodes with regions; internal to ir.
#pragma once

#include <string>
#include <unordered_set>

#include "tlaloc/ir/graph.h"

namespace tlaloc::ir {

/// A node under verification.
struct CheckedNode {
  const Graph& graph;
  Node node;
  /// Ids of the symbols that the graph takes or that earlier nodes bind.
  const std::unordered_set<std::uint32_t>& scope;

  /// InternalError with the text of the node.
  [[noreturn]] void fail(const std::string& rule) const;
  void check(bool holds, const char* rule) const {
    if (!holds) fail(rule);
  }
  bool in_scope(Dim d) const;
};

/// The node's signature against its regions', which may be wrong inside.
void verify_regions(const CheckedNode& c);

}  // namespace tlaloc::ir
