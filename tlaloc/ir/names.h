// Unique names for what a graph defines: sizes and values.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::ir {

/// Hands out names: the wanted one, or it with the first free number appended.
class NameTable {
 public:
  /// `wanted` must be an identifier.
  std::string unique(const std::string& wanted);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::uint32_t> next_;
};

/// `text` with everything that an identifier cannot hold replaced; empty stays empty.
std::string to_identifier(std::string_view text);

/// The names of one graph. Sizes are named after their symbols, params after their labels, results
/// of nodes after their origin ("w", tangent "w_dot", cotangent "d_w"), all else by number.
class Names {
 public:
  explicit Names(const Graph& g);
  /// Sizes that the graph does not define (it is wrong) have a name that no parser accepts.
  std::string symbol(Symbol s) const;
  /// Entry dims by position, then computed dims.
  std::uint32_t rank(Symbol s) const;
  std::string value(ValueId v) const;

 private:
  std::unordered_map<std::uint32_t, std::uint32_t> ranks_;
  std::vector<std::string> symbols_;
  std::vector<std::string> values_;
};

}  // namespace tlaloc::ir
