// Values of a graph while it is lowered: scalars as expressions, arrays as vectors or as rules that
// say what an element is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "tlaloc/cxx/expr.h"
#include "tlaloc/cxx/range.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::cxx {

class Lowering;

/// A position along an axis, or in a vector.
struct Index {
  ExprRef expr;
  Range range;
  bool narrow = false;  ///< of a type below 64 bits: products need a conversion
};
using Indices = std::vector<Index>;

struct ArrayValue;
using ArrayRef = std::shared_ptr<const ArrayValue>;

struct Value {
  ir::Type type;   ///< in the function's sizes
  ExprRef scalar;  ///< rank 0: a variable, a literal or an element
  ArrayRef array;  ///< rank above 0
  Range range;     ///< of an integer scalar
  /// The element where it is known; equal to what the interpreter computes.
  std::optional<HostArray> constant;

  explicit operator bool() const { return scalar || array; }
};
using Values = std::vector<Value>;

struct ArrayValue {
  /// The vector that holds it, row-major.
  std::optional<VarId> var;
  /// The scalar that every element equals.
  std::optional<Value> uniform;
  /// Element at the indices; may emit statements into the current block. Always there.
  std::function<ExprRef(Lowering&, const Indices&)> element;
  /// Element at a position in row-major order, where that needs no division.
  std::function<ExprRef(Lowering&, const Index&)> flat;
  /// Range of the elements, for arrays of integers.
  std::function<Range(const Indices&)> element_range;
  /// The element follows from the indices alone, wherever it is asked for.
  bool local = false;
  /// Of pieces one after the other that are all like this one: no vector holds them.
  ArrayRef pieces;
  /// An element costs no more than reading one: no need to keep it in a vector.
  bool free = false;
};

}  // namespace tlaloc::cxx
