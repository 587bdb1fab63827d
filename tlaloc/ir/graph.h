// The immutable program: parameters, nodes in order, results. Index-based and closed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/op_def.h"

namespace tlaloc::ir {

class Graph;
using GraphRef = std::shared_ptr<const Graph>;
/// Params come first, then the results of node 0, node 1, …
using ValueId = std::uint32_t;
inline constexpr std::uint32_t kNoNode = ~std::uint32_t{0};

/// A graph used by a node, with the caller's sizes for its entry dims. nullopt: bound anew in each
/// iteration (a ragged dim of a scan).
struct Region {
  GraphRef graph;
  std::vector<std::optional<Dim>> dims;
};

enum class Role : std::uint8_t { primal, tangent, cotangent };

/// Where a value comes from: for names in printed code and places in errors. No part of identity.
struct Origin {
  std::string name;  ///< of the value this is, or is a tangent or cotangent of; may be empty
  Role role = Role::primal;
  Place place;
};
using OriginRef = std::shared_ptr<const Origin>;

/// A relation between sizes that could not be proved; checked when the sizes are known.
struct Constraint {
  enum class Kind : std::uint8_t { equal, less_equal } kind = Kind::equal;
  Dim a, b;
  std::string what;  ///< "dot_general: contracted axes 1 and 0"
  Place place;
};

/// Name and axis labels of a parameter or result. No part of identity.
struct Label {
  std::string name;
  std::vector<std::string> axes;
  bool empty() const { return name.empty() && axes.empty(); }
};

struct NodeData {
  const OpDef* op;
  AttrRef attr;
  std::uint32_t operand_begin, operand_count;
  std::uint32_t result_begin, result_count;  // ValueIds
  std::uint32_t origin;
  std::uint32_t parts = kNoNode;  ///< index of its NodeParts, if it has any
};
/// Regions and bound symbols, which few nodes have: apart, so that the others stay small.
struct NodeParts {
  std::vector<Region> regions;
  std::vector<Symbol> bound;
  NodeParts* used() { return regions.empty() && bound.empty() ? nullptr : this; }
};

/// A view of one node; valid as long as its graph.
class Node {
 public:
  Node(const Graph* graph, std::uint32_t index) : graph_(graph), index_(index) {}
  std::uint32_t index() const { return index_; }
  const OpDef& op() const { return *data().op; }
  const AttrRef& attr() const { return data().attr; }
  template <HasFields A>
  const A& as() const {
    return attr_as<A>(data().attr.get());
  }
  std::span<const ValueId> operands() const;
  ValueId operand(std::size_t k) const { return operands()[k]; }
  std::size_t result_count() const { return data().result_count; }
  ValueId result(std::size_t k = 0) const { return data().result_begin + static_cast<ValueId>(k); }
  std::span<const Type> result_types() const;
  std::span<const Region> regions() const;
  const Region& region(std::size_t k) const { return regions()[k]; }
  /// Computed dims that this node binds.
  std::span<const Symbol> bound() const;
  const Origin& origin() const { return *origin_ref(); }
  const OriginRef& origin_ref() const;
  RegionKind region_kind() const { return data().op->region_kind; }

 private:
  const NodeData& data() const;
  const Graph* graph_;
  std::uint32_t index_;
};

class Graph {
 public:
  const std::string& name() const { return name_; }
  /// Entry dims in order of first appearance: what a caller must provide.
  std::span<const Symbol> dims() const { return dims_; }
  std::size_t param_count() const { return param_count_; }
  std::size_t value_count() const { return types_.size(); }
  std::size_t node_count() const { return nodes_.size(); }
  Node node(std::uint32_t index) const { return {this, index}; }
  Type type(ValueId v) const { return types_[v]; }
  std::span<const Type> param_types() const { return {types_.data(), param_count_}; }
  std::span<const ValueId> results() const { return results_; }
  std::vector<Type> result_types() const;
  /// Dims that a call of this graph binds in its caller.
  std::span<const Dim> result_dims() const { return result_dims_; }
  std::span<const Constraint> constraints() const { return constraints_; }
  bool is_param(ValueId v) const { return v < param_count_; }
  /// The node that computes v; kNoNode for params.
  std::uint32_t producer(ValueId v) const { return producers_[v]; }
  bool has_regions() const { return has_regions_; }
  /// True if some node, in regions too, is kept for its effect (debug_print).
  bool has_effects() const { return has_effects_; }
  const Label& param_label(std::size_t k) const { return label(param_labels_, k); }
  const Label& result_label(std::size_t k) const { return label(result_labels_, k); }

  /// Hash of the canonical IR, constants and regions included; dims by binder position and by what
  /// is known of them (bounds, divisibility); names, labels, places and typical sizes excluded.
  /// Equal for structurally equal graphs in every process.
  std::uint64_t content_hash() const;
  /// Structural equality of what content_hash covers, up to the choice of symbols.
  friend bool same_graph(const Graph& a, const Graph& b);
  /// The text form; `parse_graph` reads it back to an equal graph.
  std::string to_string() const;

 private:
  friend class Node;
  friend class Builder;
  Graph() = default;
  void collect_dims(std::span<const Symbol> first);
  /// Symbols bound by nodes, in order.
  std::vector<Symbol> bound() const;
  static const Label& label(const std::vector<Label>& labels, std::size_t k);

  std::string name_;
  std::vector<Symbol> dims_;
  std::size_t param_count_ = 0;
  std::vector<Type> types_;
  std::vector<std::uint32_t> producers_;
  std::vector<NodeData> nodes_;
  std::vector<ValueId> operands_;
  std::vector<NodeParts> parts_;
  std::vector<OriginRef> origins_;
  std::vector<ValueId> results_;
  std::vector<Dim> result_dims_;
  std::vector<Constraint> constraints_;
  std::vector<Label> param_labels_, result_labels_;  // without the empty ones at the end
  bool has_regions_ = false, has_effects_ = false;
  mutable std::atomic<std::uint64_t> hash_{0};  // computed on first use; 0 = not yet
};

inline const NodeData& Node::data() const { return graph_->nodes_[index_]; }
inline std::span<const ValueId> Node::operands() const {
  return {graph_->operands_.data() + data().operand_begin, data().operand_count};
}
inline std::span<const Type> Node::result_types() const {
  return {graph_->types_.data() + data().result_begin, data().result_count};
}
inline std::span<const Region> Node::regions() const {
  if (data().parts == kNoNode) return {};
  return graph_->parts_[data().parts].regions;
}
inline std::span<const Symbol> Node::bound() const {
  if (data().parts == kNoNode) return {};
  return graph_->parts_[data().parts].bound;
}
inline const OriginRef& Node::origin_ref() const { return graph_->origins_[data().origin]; }

}  // namespace tlaloc::ir
