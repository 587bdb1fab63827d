// Prints graphs as C++ that a person can read: the back end behind to_source.
//
// Scalar code stands alone: <cmath>, <vector>, and a few helper functions printed with it. Compiled
// with `g++ -std=c++20 -ffp-contract=off` (GCC fuses a * b + c by default, which rounds once
// instead of twice) it gives the interpreter's bits, NaN payloads excepted.
#pragma once

#include <string>
#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::cxx {

struct Options {
  std::string function;                   ///< default: the graph's name, or "f"
  std::vector<std::string> param_names;   ///< default: the labels
  std::vector<std::string> result_names;  ///< default: the labels
};

/// One function, with the helpers and structs that it needs before it. A single result is returned
/// as it is, several as a struct. Arrays are vectors in row-major order; a size that no argument
/// tells is a parameter in front.
/// Errors: UserError TL-CXX-001 (an op has no printed form), TL-CXX-002 (an element type has none).
std::string print(const ir::Graph& g, const Options& options = {});

/// The text, and what a caller needs to call the function.
struct Printed {
  std::string text;
  std::string function;
  std::vector<ir::Symbol> sizes;         ///< leading parameters: sizes that no argument tells
  std::vector<std::string> param_types;  ///< sizes included, without const and &
  std::string result_type;
  std::vector<std::string> result_fields;  ///< of the struct; empty for a single result
};
Printed print_with_signature(const ir::Graph& g, const Options& options = {});

}  // namespace tlaloc::cxx
