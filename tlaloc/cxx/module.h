// What the functions of one printed text share.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "tlaloc/cxx/code.h"
#include "tlaloc/cxx/helpers.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::cxx {

/// A struct of results.
struct Record {
  std::string name;
  std::vector<std::string> fields;
  std::vector<std::string> types;
};

/// Thrown where a flat history that was to be known piece by piece is read as a whole after all.
struct PiecesAreRead {};

struct Module {
  Needs needs;
  /// Flat histories whose pieces are all alike need no vector.
  bool melt_pieces = true;
  /// Callees first. Each returns its record, or its only result.
  std::vector<Function> functions;
  std::unordered_map<std::string, Record> records;  ///< by function name
};

}  // namespace tlaloc::cxx
