// Which function raises which operation; internal to stablehlo.
#pragma once

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "tlaloc/ops/val_index.h"
#include "tlaloc/stablehlo/importer.h"

namespace tlaloc::stablehlo::raising {

using RaiseTable = std::unordered_map<std::string_view, RaiseFn>;

// One per family.
void add_elementwise(RaiseTable& t);
void add_shape(RaiseTable& t);
void add_index(RaiseTable& t);
void add_reduce(RaiseTable& t);
void add_order(RaiseTable& t);
void add_linalg(RaiseTable& t);
void add_regions(RaiseTable& t);
void add_dynamic(RaiseTable& t);
void add_collectives(RaiseTable& t);
void add_mesh(RaiseTable& t);
void add_custom_call(RaiseTable& t);
ir::Vals dynamic_reduce_window(const Site& s);
ir::Vals shape_assertion(const Site& s);
/// By the targets of custom calls.
void add_lapack(RaiseTable& t);

/// Floats as signed integers in IEEE 754's totalOrder.
ir::Val total_order(ir::Val x);
/// The operation that a region on two scalars is, if it is one.
const ir::OpDef* single_op(const ir::Graph& g);
/// The dimension numbers of a gather or scatter.
ops::IndexDims index_dims(const Site& s, std::string_view attribute);

/// The same graph on scalars up to the order in which independent operations stand.
bool same_scalar_graph(const ir::Graph& a, const ir::Graph& b);

/// All of `digits` as a number.
inline bool parse_digits(std::string_view digits, std::int64_t& out) {
  const auto [after, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return error == std::errc() && after == digits.data() + digits.size();
}

}  // namespace tlaloc::stablehlo::raising
