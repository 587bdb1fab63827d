// How ops are printed: one rule per op, by family, beside the others in rules_*.cc.
#pragma once

#include <span>

#include "tlaloc/cxx/value.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cxx {

class Needs;

/// One application of an elementwise op to one element.
struct ElementCall {
  Needs& needs;
  const ir::Node& node;
  std::span<const ExprRef> in;
  std::span<const DType> in_dtypes;
  std::span<const Range> ranges;
  DType dtype;  ///< of the result
  Range range;  ///< of the result: what the element type says, or better
};
using ElementFn = ExprRef (*)(ElementCall&);

/// One application of any other op.
struct NodeCall {
  const ir::Node& node;
  std::span<const Value> in;
  std::span<const ir::Type> types;  ///< of the results, in the function's sizes
  const ir::DimMap& dims;           ///< from the graph's sizes to the function's
  Values out;
};
using NodeFn = void (*)(Lowering&, NodeCall&);

/// How an op reads the elements of its operands, to decide what is kept in a vector.
enum class Reads : std::uint8_t {
  elementwise,  ///< result element i reads operand elements i
  once,         ///< each operand element at most once
  often,
};

struct Rule {
  const ir::OpDef* op;
  ElementFn element = nullptr;
  NodeFn node = nullptr;
  Reads reads = Reads::often;
  const char* refusal = nullptr;  ///< why the standalone code has no form for it
  const char* hint = nullptr;     ///< what to do instead
};

/// The rule of `op`; null for ops with regions.
const Rule* find_rule(const ir::OpDef& op);

// ---- families ----
std::span<const Rule> arithmetic_rules();
std::span<const Rule> math_rules();
std::span<const Rule> bit_rules();
std::span<const Rule> constant_rules();
std::span<const Rule> shape_rules();
std::span<const Rule> index_rules();
std::span<const Rule> joining_rules();
std::span<const Rule> gather_rules();
std::span<const Rule> reduce_rules();
std::span<const Rule> product_rules();
std::span<const Rule> fold_rules();
std::span<const Rule> window_rules();
std::span<const Rule> order_rules();
std::span<const Rule> linalg_rules();
std::span<const Rule> refused_rules();

}  // namespace tlaloc::cxx
