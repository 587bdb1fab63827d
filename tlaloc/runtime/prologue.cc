#include "tlaloc/runtime/prologue.h"

#include <algorithm>
#include <unordered_set>

#include "tlaloc/ir/builder.h"

namespace tlaloc::runtime {
namespace {

using ir::Dim;
using ir::Graph;
using ir::Node;
using ir::Symbol;
using ir::ValueId;

class Splitter {
 public:
  Splitter(const Graph& g, const std::vector<bool>& bound, const std::vector<bool>& stays)
      : g_(g),
        hoisted_value_(g.value_count()),
        hoisted_node_(g.node_count()),
        made_again_(g.node_count()) {
    internal_check(bound.size() == g.param_count(), "one flag per param is needed");
    for (ValueId v = 0; v < g.param_count(); ++v) {
      hoisted_value_[v] = bound[v];
      if (!bound[v]) continue;
      for (Dim d : g.type(v).shape()) {
        if (auto s = d.as_symbol()) know(*s);
      }
    }
    for (std::uint32_t i = 0; i < g.node_count(); ++i) {
      if (stays.empty() || !stays[i]) decide(g.node(i));
    }
    find_needed();
  }

  Split run() {
    Split s;
    s.prologue = build(true);
    s.main = build(false);
    s.dims = known_order_;
    return s;
  }

 private:
  void know(Symbol s) {
    if (known_.insert(s.id()).second) known_order_.push_back(s);
  }
  bool knows(Dim d) const {
    return d.is_constant() || !d.mentions([&](Symbol s) { return !known_.contains(s.id()); });
  }

  void decide(const Node& n) {
    if (n.op().traits.ordered) return;
    for (ValueId v : n.operands()) {
      if (!hoisted_value_[v]) return;
    }
    bool known = true;
    if (n.attr() && n.attr()->has_dims()) {
      n.attr()->each_dim([&](Dim d) { known = known && (knows(d) || bound_by(n, d)); });
    }
    for (const ir::Region& r : n.regions()) {
      known = known && !r.graph->has_effects();
      for (const auto& d : r.dims) known = known && (!d || knows(*d));
    }
    for (ir::Type t : n.result_types()) {
      for (Dim d : t.shape()) known = known && (knows(d) || bound_by(n, d));
    }
    if (!known) return;
    hoisted_node_[n.index()] = true;
    for (std::size_t k = 0; k < n.result_count(); ++k) hoisted_value_[n.result(k)] = true;
    for (Symbol s : n.bound()) know(s);
  }
  /// True if the node itself binds what `d` lacks.
  bool bound_by(const Node& n, Dim d) const {
    return !d.mentions([&](Symbol s) {
      return !known_.contains(s.id()) && std::ranges::find(n.bound(), s) == n.bound().end();
    });
  }

  void find_needed() {
    std::vector<bool> needed(g_.value_count());
    for (std::uint32_t i = 0; i < g_.node_count(); ++i) {
      if (hoisted_node_[i]) continue;
      for (ValueId v : g_.node(i).operands()) needed[v] = hoisted_value_[v];
    }
    for (ValueId v : g_.results()) needed[v] = hoisted_value_[v];
    const auto cross = [&](ValueId v) {
      if (needed[v]) crossing_.push_back(v);
    };
    for (ValueId v = 0; v < g_.param_count(); ++v) cross(v);
    for (std::uint32_t i = 0; i < g_.node_count(); ++i) {
      const Node n = g_.node(i);
      if (!hoisted_node_[i]) continue;
      for (std::size_t k = 0; k < n.result_count(); ++k) {
        if (is_made_of_nothing(n)) {
          made_again_[i] = made_again_[i] || needed[n.result(k)];
        } else {
          cross(n.result(k));
        }
      }
    }
  }

  /// Constants and counters: cheaper to make than to hand over, which would keep a counter that
  /// a loop need not even store.
  static bool is_made_of_nothing(const Node& n) {
    return n.operands().empty() && n.region_kind() == ir::RegionKind::none;
  }

  ir::GraphRef build(bool prologue) const {
    ir::Builder b(g_.name() + (prologue ? ".prologue" : ""));
    ir::Copier copier(g_);
    ir::Vals params;
    if (!prologue) {
      for (ValueId v : crossing_) {
        copier.env[v] = b.param(g_.type(v), v < g_.param_count() ? g_.param_label(v) : ir::Label{});
        params.push_back(copier.env[v]);
      }
    }
    for (ValueId v = 0; v < g_.param_count(); ++v) {
      if (hoisted_value_[v] == prologue) params.push_back(copier.declare(v));
    }
    for (std::uint32_t i = 0; i < g_.node_count(); ++i) {
      if (hoisted_node_[i] == prologue || (!prologue && made_again_[i])) copier.copy(g_.node(i));
    }
    ir::Builder::Close close{.params = params};
    ir::Vals results;
    if (prologue) {
      for (ValueId v : crossing_) results.push_back(copier.env[v]);
      for (Symbol s : known_order_) close.result_dims.push_back(Dim(s).substitute(copier.dims));
    } else {
      results = copier.results();
      close.result_dims = copier.result_dims();
      for (std::size_t k = 0; k < results.size(); ++k) {
        close.result_labels.push_back(g_.result_label(k));
      }
    }
    for (const ir::Constraint& c : g_.constraints()) {
      if (prologue && !(knows(c.a) && knows(c.b))) continue;
      const Dim x = c.a.substitute(copier.dims), y = c.b.substitute(copier.dims);
      b.require({c.kind, x, y, c.what, c.place});
      // A graph keeps constraints about sizes that it mentions elsewhere.
      if (!prologue) close.result_dims.insert(close.result_dims.end(), {x, y});
    }
    return b.build(results, std::move(close));
  }

  const Graph& g_;
  std::vector<bool> hoisted_value_, hoisted_node_;
  std::vector<bool> made_again_;  // hoisted nodes that the main part has a copy of
  std::vector<ValueId> crossing_;
  std::unordered_set<std::uint32_t> known_;
  std::vector<Symbol> known_order_;
};

}  // namespace

Split split_prologue(const Graph& g, const std::vector<bool>& bound,
                     const std::vector<bool>& stays) {
  return Splitter(g, bound, stays).run();
}

}  // namespace tlaloc::runtime
