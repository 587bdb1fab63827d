// From a graph to statements: every value its own variable, every copy explicit. The passes make
// that readable; lowering only decides what is a loop, what is kept in a vector, and which index
// needs a clamp.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tlaloc/cxx/code.h"
#include "tlaloc/cxx/fusion.h"
#include "tlaloc/cxx/module.h"
#include "tlaloc/cxx/rules.h"
#include "tlaloc/cxx/value.h"
#include "tlaloc/ir/dim_expr.h"

namespace tlaloc::cxx {

/// Names of parameters and results, unique among themselves.
struct Signature {
  std::vector<std::string> params, results;
};

class Lowering {
 public:
  Lowering(Module& module, Function& function) : module_(module), function_(function) {}
  Lowering(const Lowering&) = delete;
  Lowering& operator=(const Lowering&) = delete;

  /// Lowers a whole graph as the function's body: parameters, checks, statements, return. Returns
  /// the sizes that are parameters.
  std::vector<ir::Symbol> function(const ir::Graph& g, const Signature& signature);
  /// Lowers the nodes of g in place; `dims` maps its sizes to the function's.
  Values graph(const ir::Graph& g, Values params, ir::DimMap dims);
  /// The result dims of the graph lowered last, in the function's sizes.
  const std::vector<ir::Dim>& result_dims() const { return result_dims_; }

  Needs& needs() { return module_.needs; }
  Module& module() { return module_; }
  const std::string& function_name() const { return function_.name; }

  // ---- statements ----
  void emit(Stmt s) { out_->push_back(std::move(s)); }
  void assign(VarId target, ExprRef value);
  void store(VarId target, ExprRef position, ExprRef value);
  /// if (!holds) throw exception("what").
  void check(ExprRef holds, const std::string& exception, const std::string& what);
  VarId declare(ir::Type type, std::string name = "", NameRank rank = NameRank::none);
  VarId declare_counter();
  Var& var(VarId v) { return function_.vars[v]; }
  /// The expression in a variable of its own, unless it is one or a literal.
  ExprRef keep(ExprRef e, DType dtype, const ir::Origin* origin = nullptr);
  /// The statements that f emits.
  template <class F>
  Block block(F&& f) {
    Block b;
    Block* const outer = std::exchange(out_, &b);
    const std::size_t known = memo_order_.size(), facts = facts_.size(), clamps = clamps_.size();
    f();
    forget_elements(known);
    facts_.resize(facts);
    clamps_.resize(clamps);
    out_ = outer;
    return b;
  }
  /// Names v after what it is, or is a tangent or cotangent of.
  void suggest(VarId v, const ir::Origin& origin);
  /// for (i = 0; i < count; ++i) body(i); the body's statements come from `body`.
  template <class F>
  Stmt count_loop(VarId i, ExprRef from, ExprRef condition, std::int64_t step, F&& body) {
    Stmt s{Stmt::Kind::count, i, std::move(from), std::move(condition)};
    s.step = step;
    s.body = block(body);
    return s;
  }

  /// What keep() put into a variable; null for all others.
  const ExprRef* definition(VarId v) const {
    const auto it = definitions_.find(v);
    return it == definitions_.end() ? nullptr : &it->second;
  }
  /// Variables from this number on do not exist yet.
  VarId next_var() const { return static_cast<VarId>(function_.vars.size()); }

  // ---- sizes ----
  ExprRef size(ir::Dim d);
  bool defined(ir::Symbol s) const { return sizes_.contains(s.id()); }
  void define(ir::Symbol s, ExprRef e) { sizes_.insert_or_assign(s.id(), std::move(e)); }
  /// Records that d >= 0 holds in the current block, for proofs about indices.
  void assume_not_negative(ir::Dim d) { facts_.push_back(d); }
  bool proved_less_equal(ir::Dim a, ir::Dim b) const;
  bool at_least_zero(const Range& r) const;
  bool at_most(const Range& r, ir::Dim bound) const;
  /// The range in terms of sizes that are known outside a loop: those of variables below `first`.
  Range outward(const Range& r, VarId first) const;
  /// An integer scalar as a position in [0, last], as the ops that take one clamp it.
  Index clamped(const Value& v, ir::Dim last);

  // ---- scalars ----
  Value scalar(ir::Type type, ExprRef e, Range range);
  Value scalar(ir::Type type, ExprRef e) {
    return scalar(type, std::move(e), Range::of(type.dtype()));
  }
  Value constant(const HostArray& value);
  static Value scalar_int(std::int64_t value);

  /// A binary elementwise op on two elements, as its rule prints it.
  ExprRef combine(const ir::OpDef& op, const ir::Node& n, DType dtype, ExprRef a, ExprRef b);

  // ---- arrays ----
  Value in_vector(ir::Type type, VarId v, std::function<Range(const Indices&)> range = {});
  Value uniform(ir::Type type, const Value& element);
  Value lazy(ir::Type type, ArrayValue array);
  /// The element at `at`; a computed one is kept in a variable of the innermost loop.
  ExprRef element(const Value& v, const Indices& at);
  ExprRef element_flat(const Value& v, const Index& at);
  /// Value of one element, with its range.
  Value element_value(const Value& v, const Indices& at);
  /// Position in row-major order.
  Index position(ir::Type type, const Indices& at);
  /// The array in a vector.
  VarId materialize(const Value& v);
  /// `std::vector<T> target(size)` and its elements.
  void fill(VarId target, const Value& v);
  /// target[first + i] = v[i] for all i, in row-major order of v.
  void store_elements(VarId target, ExprRef first, const Value& v);
  /// Marks the loops emitted since the block held `from` statements: see Stmt::by_element.
  void by_element(std::size_t from);
  std::size_t emitted() const { return out_->size(); }
  /// Loops over all indices of `type`; `visit` emits the innermost statements.
  void for_each(ir::Type type, const std::function<void(const Indices&)>& visit);
  /// A new vector of zeros, to be written element by element.
  VarId new_vector(ir::Type type, const ir::Origin& origin);
  /// A value of that type, a vector written by loops: `element` emits what computes one element.
  Value written(ir::Type type, const ir::Origin& origin,
                const std::function<ExprRef(const Indices&)>& element);
  /// What to assign or return: a scalar expression or a vector.
  ExprRef whole(const Value& v);

 private:
  /// Elements computed in the current block or around it.
  using Memo = std::unordered_map<ArrayRef, std::vector<std::pair<Indices, ExprRef>>>;
  struct Scope {
    const ir::Graph& graph;
    ir::DimMap dims;
    Values env;
    std::vector<Keep> kept;
  };
  /// The element as `computed` makes it, in a variable; the same one within a block.
  ExprRef memoized(const Value& v, const Indices& at, const std::function<ExprRef()>& computed);
  /// All but the first `known` elements that were memoized.
  void forget_elements(std::size_t known);
  void node(Scope& s, const ir::Node& n);
  /// The array where later reads are cheap and see what it holds now.
  Value kept(const Value& v, const ir::Origin& origin);
  void elementwise(const ir::Node& n, const Rule& rule, NodeCall& call);
  void check_constraints(Scope& s, std::vector<bool>& done);
  void region_node(Scope& s, const ir::Node& n, NodeCall& call);
  void branch(const ir::Node& n, NodeCall& call, Scope& s);
  void lane_branch(const ir::Node& n, NodeCall& call, Scope& s);
  void while_loop(const ir::Node& n, NodeCall& call, Scope& s);
  void scan(const ir::Node& n, NodeCall& call, Scope& s);
  void call_node(const ir::Node& n, NodeCall& call, Scope& s);
  std::vector<ir::Symbol> fresh_bound(Scope& s, const ir::Node& n);
  ExprRef atom_size(const ir::DimAtom& atom);
  void check_facts(ir::Symbol s, bool given);
  void require(ir::Dim a, bool equal, ir::Dim b, const std::string& what);

  Module& module_;
  Function& function_;
  Block* out_ = nullptr;
  std::unordered_map<std::uint32_t, ExprRef> sizes_;
  std::vector<ir::Dim> facts_;
  std::unordered_map<VarId, ExprRef> definitions_;
  struct Clamp {
    ExprRef position;
    ir::Dim last;
    ExprRef clamped;
  };
  std::vector<Clamp> clamps_;  ///< in the current block or around it
  std::vector<ir::Dim> result_dims_;
  Memo memo_;
  std::vector<ArrayRef> memo_order_;  ///< whose element came into memo_, one after the other
};

/// True for an element whose bits are all zero, which a new vector holds anyway.
bool is_zero(const HostArray& scalar);

}  // namespace tlaloc::cxx
