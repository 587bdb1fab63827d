// From a graph to statements in tensor mode: one call of the public API per operation. Nothing is a
// loop over elements here; control flow becomes tl::cond, tl::while_loop and tl::scan over lambdas.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tlaloc/cxx/code.h"
#include "tlaloc/cxx/helpers.h"
#include "tlaloc/ir/dim_expr.h"

namespace tlaloc::cxx {

/// A value of the graph while it is printed.
struct TensorValue {
  ir::Type type;  ///< in the function's sizes
  /// Of what the expression is: the same, or something that broadcasts to `type` where it meets an
  /// operand of that shape. A number is a scalar.
  ir::Type base;
  ExprRef expr;
  /// The number that all elements are, where it is known.
  std::optional<HostArray> constant = {};
  bool whole() const { return type == base; }
};
using TensorValues = std::vector<TensorValue>;

/// One application of an op without regions.
struct TensorCall {
  const ir::Node& node;
  std::span<const TensorValue> in;
  std::span<const ir::Type> types;  ///< of the results
  const ir::DimMap& dims;           ///< from the graph's sizes to the function's
  /// The order in which a transpose, the only reader of the result, wants its axes; a rule may give
  /// them so and says it by `transposed`.
  const std::vector<std::int64_t>* wanted = nullptr;
  bool transposed = false;
  TensorValues out;
};

class TensorLowering {
 public:
  TensorLowering(Function& f, Needs& needs) : function_(f), needs_(needs) {}
  TensorLowering(const TensorLowering&) = delete;
  TensorLowering& operator=(const TensorLowering&) = delete;

  /// The whole graph; `params` and `finish` know the signature.
  Block body(const ir::Graph& g, const TensorValues& params,
             const std::function<void(const TensorValues&)>& finish);
  TensorValues graph(const ir::Graph& g, TensorValues params, const ir::DimMap& dims);

  Function& function() { return function_; }
  Needs& needs() { return needs_; }
  void emit(Stmt s) { out_->push_back(std::move(s)); }
  VarId declare(std::string name = "", NameRank rank = NameRank::none);
  /// The expression as a value of that type, in a variable named after its origin.
  TensorValue named(ir::Type type, ExprRef e, const ir::Origin& origin);
  /// A number, as a scalar that broadcasts to `type`.
  TensorValue number(ir::Type type, const HostArray& value);

  /// A tensor of the value's own shape.
  ExprRef full(const TensorValue& v, const ir::Node& n);
  /// `base` of operands of one shape, broadcast by themselves: what an elementwise call takes. The
  /// result's base comes back through `base`.
  Exprs operands(const TensorCall& c, ir::Type& base);
  /// "64", "tl::any".
  static std::string dim_text(ir::Dim d);
  static std::string dims_text(std::span<const ir::Dim> shape);
  /// "tl::Tensor<float, 64, tl::any>".
  static std::string tensor_type(ir::Type t);
  /// A tensor in scope that has the shape (or the size, on `axis`), for what must be told one.
  ExprRef like(std::span<const ir::Dim> shape, const ir::Node& n) const;
  struct Sized {
    ExprRef value;
    int axis;
  };
  Sized sized(ir::Dim d, const ir::Node& n) const;
  /// Refuses the node.
  [[noreturn]] static void refuse(const ir::Node& n, const std::string& reason);

 private:
  template <class F>
  Block block(F&& f) {
    Block b;
    Block* const outer = std::exchange(out_, &b);
    const std::size_t known = known_.size();
    const auto computed = computed_;
    f();
    known_.resize(known);
    computed_ = computed;
    out_ = outer;
    return b;
  }
  void know(const TensorValue& v);
  void region(const ir::Node& n, TensorCall& c, ir::DimMap& dims);
  void branch(const ir::Node& n, TensorCall& c, const ir::DimMap& dims);
  void while_loop(const ir::Node& n, TensorCall& c, const ir::DimMap& dims);
  void scan(const ir::Node& n, TensorCall& c, const ir::DimMap& dims);
  void call(const ir::Node& n, TensorCall& c, ir::DimMap& dims);
  /// One value as it is, several as a tuple.
  ExprRef tuple(const TensorValues& values, const ir::Node& n);
  /// Binds what came out of a call, one value or a tuple.
  TensorValues unpack(ExprRef from, std::span<const ir::Type> types,
                      const std::vector<std::string>& names);
  /// const auto name = [&](const auto& param…) { statements; return value; };
  ExprRef lambda(const std::string& name, std::span<const VarId> params,
                 const std::function<ExprRef()>& f);

  Function& function_;
  Needs& needs_;
  Block* out_ = nullptr;
  TensorValues known_;  ///< tensors in scope
  /// Variables in scope by what they hold: equal work of different parts is done once.
  std::unordered_map<std::string, VarId> computed_;
};

using TensorRule = void (*)(TensorLowering&, TensorCall&);
struct TensorRow {
  const ir::OpDef* op;
  TensorRule rule;
};
/// Null where the op has no form in tensor mode.
TensorRule find_tensor_rule(const ir::OpDef& op);
std::span<const TensorRow> tensor_elementwise_rules();
std::span<const TensorRow> tensor_shape_rules();
std::span<const TensorRow> tensor_reduce_rules();
std::span<const TensorRow> tensor_product_rules();
std::span<const TensorRow> tensor_index_rules();

}  // namespace tlaloc::cxx
