// Builds graphs: infers types, applies exact local rewrites, interns.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tlaloc/ir/graph.h"

namespace tlaloc::ir {

/// One trace. Builders form a stack per thread; ops emit into the innermost one, and a handle of
/// an outer trace used there becomes an explicit operand (closure conversion, see `lifted`).
class Builder {
 public:
  explicit Builder(std::string name = "");
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// The innermost builder of this thread; UserError TL-TRACE-004 when nothing is being traced.
  static Builder& current();
  static bool active();
  /// The builder of a live handle; UserError TL-TRACE-003 when its trace has ended.
  static Builder& of(Val v) {
    return innermost_ && innermost_->trace_ == v.trace ? *innermost_ : of_outer(v);
  }

  Val param(Type type, Label label = {});
  /// Emits one primitive: infers, rewrites, interns. Returns its first result.
  Val emit(const OpDef& op, AttrRef attr, std::span<const Val> in);
  Val emit(const OpDef& op, AttrRef attr, std::initializer_list<Val> in) {
    return emit(op, std::move(attr), std::span<const Val>(in.begin(), in.size()));
  }
  Vals emit_all(const OpDef& op, AttrRef attr, std::span<const Val> in);

  struct NodeResult {
    Vals out;
    /// The symbols the node binds; an older, equal node's when interning found one.
    std::vector<Symbol> bound;
  };
  /// Emits a node with regions; the caller gives result types in terms of `bound`.
  NodeResult emit_region(const OpDef& op, AttrRef attr, std::span<const Val> in,
                         std::span<const Type> types, std::vector<Region> regions,
                         std::vector<Symbol> bound = {});

  /// Outer handles that became operands, in order; the built graph has them as its first params.
  const Vals& lifted() const { return lifted_; }
  /// `v` as a value of this builder.
  Val lift(Val v);

  Type type(Val v) const { return types_[v.id]; }
  /// Records a == b (or a <= b) unless proved; throws UserError TL-SHAPE-001 when disproved.
  void require(Constraint constraint);
  /// `equal`, using the constraints recorded so far.
  Truth equal_here(Dim a, Dim b) const;

  /// As `emit`, for results whose types are known already (copies of nodes). Writes the results.
  void emit_typed(const OpDef& op, const AttrRef& attr, std::span<const Val> in,
                  std::span<const Type> types, std::span<Val> out);

  /// Adds a node, or a constraint, exactly as given: nothing is inferred, rewritten, interned or
  /// proved. For the parser, and for tests that need a graph which is wrong.
  Vals append(const OpDef& op, AttrRef attr, std::span<const Val> in, std::span<const Type> types,
              std::vector<Region> regions = {}, std::vector<Symbol> bound = {});
  void append(Constraint constraint) { constraints_.push_back(std::move(constraint)); }
  /// The same for a node without regions, writing its results.
  void append(const OpDef& op, const AttrRef& attr, std::span<const Val> in,
              std::span<const Type> types, std::span<Val> out);
  /// Makes room for about `times` copies of g's nodes.
  void expect(const Graph& g, std::size_t times = 1);

  /// The node that computes v, for rules that look at producers; null for params.
  const OpDef* op_of(Val v) const {
    return v.trace == trace_ && producers_[v.id] != kNoNode ? nodes_[producers_[v.id]].op : nullptr;
  }
  const Attr* attr_of(Val v) const { return nodes_[producers_[v.id]].attr.get(); }
  Val operand_of(Val v, std::size_t k) const {
    return value(operands_[nodes_[producers_[v.id]].operand_begin + k]);
  }
  /// Operands of the node that computes v; 0 for params.
  std::size_t operand_count(Val v) const;

  const Origin& origin_of(Val v) const;

  struct Close {
    std::vector<Dim> result_dims;
    std::vector<Label> result_labels;
    /// When not empty: all params of the graph in this order, instead of lifted then declared.
    Vals params;
    /// Entry dims to put first, in this order, whatever the order of their first appearance.
    std::vector<Symbol> dims;
    bool keep_dead = false;  ///< keep nodes that no result needs
  };
  /// Ends the trace: only types may be asked for afterwards. Nodes that no result or effect needs
  /// are dropped; constraints stay.
  GraphRef build(std::span<const Val> results, Close close);
  GraphRef build(std::span<const Val> results) { return build(results, Close{}); }

  std::uint32_t trace() const { return trace_; }

 private:
  class Inference;
  class Interner;
  /// A node that may turn out to exist already.
  struct Draft {
    const OpDef& op;
    const AttrRef& attr;
    std::span<const Val> in;
    std::span<const Type> types;
    NodeParts* parts = nullptr;  ///< moved from when the node is added
  };
  static Builder& of_outer(Val v);
  Val value(std::uint32_t id) const { return {id, trace_}; }
  std::span<const Val> lift_all(std::span<const Val> in) {
    if (built_) return lift_each(in);
    for (const Val& v : in) {
      if (v.trace != trace_ || !v) return lift_each(in);
    }
    return in;
  }
  std::span<const Val> lift_each(std::span<const Val> in);
  void new_value(Type type, std::uint32_t node) {
    types_.push_back(type);
    producers_.push_back(node);
    symbolic_ = symbolic_ || type.has_symbols();
  }
  Vals results_of(std::uint32_t node) const;
  void write_results(std::uint32_t node, std::span<Val> out) const;
  /// The equal node seen before, or a new one.
  std::uint32_t intern(const Draft& draft);
  bool is_same(const NodeData& node, const Draft& draft) const;
  std::uint32_t add_node(const Draft& draft);
  std::uint32_t current_origin();
  /// By node; and how many.
  std::pair<std::vector<std::uint8_t>, std::size_t> live_nodes(std::span<const Val> results,
                                                               const Close& close) const;
  std::vector<std::uint32_t> param_order(const Close& close) const;
  void take_all(Graph& g, std::size_t params);
  void take_live(Graph& g, const std::vector<std::uint8_t>& live,
                 std::vector<std::uint32_t>& new_id);

  static constinit thread_local Builder* innermost_;

  std::string name_;
  std::uint32_t trace_;
  std::size_t depth_;
  std::vector<Type> types_;
  std::vector<std::uint32_t> producers_;  // kNoNode for params
  std::vector<NodeData> nodes_;
  std::vector<std::uint32_t> operands_;
  std::vector<NodeParts> parts_;
  std::vector<OriginRef> origins_;
  const Origin* last_origin_ = nullptr;  // of the thread when origins_ grew last
  std::vector<Constraint> constraints_;
  DimMap solved_;
  std::vector<std::uint32_t> declared_;
  std::vector<Label> declared_labels_;  // without the empty ones at the end
  Vals lifted_;
  std::vector<std::uint32_t> lifted_ids_;
  std::unordered_map<std::uint64_t, std::uint32_t> lifted_index_;  // trace and id -> id here
  Vals lift_buffer_;
  std::vector<Type> infer_in_, infer_out_;
  std::unique_ptr<Interner> interner_;
  bool symbolic_ = false;  // some type or attribute may mention a symbol
  bool has_effects_ = false;
  bool ahead_ = false;  // some operand is no value yet, which `build` refuses
  bool built_ = false;
};

/// While alive, nodes emitted in this thread carry this origin.
class OriginScope {
 public:
  explicit OriginScope(OriginRef origin);
  explicit OriginScope(Origin origin);
  ~OriginScope();
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;
  static const OriginRef& current();

 private:
  OriginRef previous_;
};

/// Copies nodes of one graph into the current builder: what transforms do with everything they do
/// not change. Rewrites and interning apply again.
class Copier {
 public:
  explicit Copier(const Graph& g) : graph(g), env(g.value_count()) {}

  /// A parameter of the builder like param k.
  Val declare(std::size_t k);
  void declare_all();
  /// The operands of n in the builder; the buffer is reused by the next call.
  const Vals& operands(const Node& n);
  /// Re-emits n, operands and dims substituted; extends `env` and `dims`.
  void copy(const Node& n);
  /// The same where n's graph is only cut down, so that no rewrite can apply and no two nodes can
  /// become equal: without looking for either, at a fraction of the cost.
  void copy_as_is(const Node& n);
  /// Sets the results of n.
  void set(const Node& n, const Vals& results);
  /// The graph's constraints, except those about sizes that nothing copied binds.
  void copy_constraints();
  Vals results() const;
  std::vector<Dim> result_dims() const;

  const Graph& graph;
  Vals env;     ///< by ValueId; absent until set
  DimMap dims;  ///< the graph's symbols in terms of the builder's

 private:
  Vals in_;
  std::vector<Type> types_;
};

/// One node, with operands of the caller's choice.
Vals copy_node(const Node& n, std::span<const Val> in, DimMap& dims);

struct Inlined {
  Vals results;
  DimMap dims;  ///< entry and bound symbols of the inlined graph in terms of the caller's
};
/// Inlines a graph: `args` for its params, `entry` for its entry dims (in order). When `entry` is
/// empty, entry dims are matched against the shapes of the arguments. What is known of an entry
/// dim (bounds, divisibility) is required of the size given for it.
Inlined inline_graph(const Graph& g, std::span<const Val> args, std::span<const Dim> entry = {});

/// Matches param shapes against argument types: binds each entry symbol that is an axis on its
/// own, then substitutes. Symbols that no shape determines must be in `dims` already; otherwise
/// UserError TL-SHAPE-004. An argument of another dtype or rank is TL-SHAPE-001.
void bind_entry_dims(const Graph& g, std::span<const Type> args, DimMap& dims);

/// The region's entry symbols in terms of the caller: region.dims under `outer`.
DimMap region_map(const Region& region, const DimMap& outer);
/// Region dims for `g` where `map` gives each entry symbol (identity when unmapped).
Region make_region(GraphRef g, const DimMap& map);

}  // namespace tlaloc::ir
