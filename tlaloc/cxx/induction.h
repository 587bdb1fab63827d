// What a loop's counter does: found in the graph, so that the printed loop counts, its indices need
// no clamps and its history needs no vector.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "tlaloc/cxx/range.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::cxx {

/// By carry: the constant that each trip adds, if it does nothing else and the constant is small.
/// `first` is the body's param of carry 0; `constant_of` knows the values of params.
using ConstantOf = std::function<std::optional<std::int64_t>(ir::ValueId)>;
std::vector<std::optional<std::int64_t>> steps(const ir::Graph& body, std::size_t first,
                                               std::size_t n_carry,
                                               const ConstantOf& param_constant);

/// carry (<, <=, >, >=) bound, where no carry enters the bound.
struct Limit {
  std::size_t carry;
  bool below;      ///< an upper limit
  bool inclusive;  ///< <= or >=
  ir::ValueId bound;
  Range range;  ///< of the bound
};
/// The limits that all hold where the condition does; `exact` if they are all of it.
struct Limits {
  std::vector<Limit> all;
  bool exact = false;
};
/// `range_of` knows the params that are no carries; `dims` maps the graph's sizes to the
/// function's.
using RangeOf = std::function<Range(ir::ValueId)>;
Limits limits(const ir::Graph& condition, std::size_t first, std::size_t n_carry,
              const RangeOf& range_of, const ir::DimMap& dims);

/// Value of a scalar integer constant of the graph.
std::optional<std::int64_t> constant_of(const ir::Graph& g, ir::ValueId v);

}  // namespace tlaloc::cxx
