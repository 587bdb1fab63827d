// Prints graphs as C++ that a person can read: the back end behind to_source. Two modes:
//
//   plain    loops over doubles and vectors. Stands alone: <cmath>, <vector>, and a few helper
//            functions printed with it. Compiled with `g++ -std=c++20 -ffp-contract=off` (GCC fuses
//            a * b + c by default, which rounds once instead of twice) it gives the interpreter's
//            bits, NaN payloads excepted.
//   tensor   calls of the public API, one per operation: needs <tlaloc/tlaloc.h>, and gives the
//            interpreter's bits. Structured arguments keep their structure: model.w1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::cxx {

enum class Mode : std::uint8_t {
  /// Tensor mode for programs with matrices (values of rank 2 or more that have more than 16
  /// elements, or an open size) that the public API can express, plain mode for all others.
  automatic,
  plain,
  tensor
};

/// Where a parameter or result stands in a structured value: name.path, path being "w1" or
/// "layers[2].b".
struct Member {
  std::string of, path;
};

struct Options {
  Mode mode = Mode::automatic;
  std::string function;                   ///< default: the graph's name, or "f"
  std::vector<std::string> param_names;   ///< default: the labels
  std::vector<std::string> result_names;  ///< default: the labels
  /// Tensor mode: by parameter, the structured argument that it belongs to (`of` empty: none).
  std::vector<Member> members;
  /// Tensor mode: the results are, in order, the members of a value of that argument's type.
  std::string result_like;
};

/// One function, with the helpers and structs that it needs before it. A single result is returned
/// as it is, several as a struct. Arrays are vectors in row-major order; a size that no argument
/// tells is a parameter in front. In tensor mode arguments and results are tensors.
/// Errors: UserError TL-CXX-001 (an op has no printed form), TL-CXX-002 (an element type has none).
std::string print(const ir::Graph& g, const Options& options = {});

/// The text, and what a caller needs to call the function.
struct Printed {
  std::string text;
  std::string function;
  Mode mode = Mode::plain;               ///< plain or tensor
  std::vector<ir::Symbol> sizes;         ///< leading parameters: sizes that no argument tells
  std::vector<std::string> param_types;  ///< sizes included, without const and &
  std::string result_type;
  std::vector<std::string> result_fields;  ///< of the struct; empty for a single result
};
Printed print_with_signature(const ir::Graph& g, const Options& options = {});

}  // namespace tlaloc::cxx
