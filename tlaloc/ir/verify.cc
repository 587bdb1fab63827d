#include "tlaloc/ir/verify.h"

#include <algorithm>

#include "tlaloc/ir/print.h"
#include "tlaloc/ir/verify_regions.h"

namespace tlaloc::ir {

void CheckedNode::fail(const std::string& rule) const {
  throw InternalError("verify: " + rule + "\n  in graph @" + graph.name() + ": " +
                      node_text(graph, node.index()));
}
bool CheckedNode::in_scope(Dim d) const {
  return !d.mentions([&](Symbol s) { return !scope.contains(s.id()); });
}

namespace {

/// Runs inference again: what cannot be proved passes.
class Inference final : public InferContext {
 public:
  explicit Inference(const CheckedNode& c) : node_(c) {}
  void require_equal(Dim a, Dim b, const std::string& what) override {
    if (equal(a, b) == Truth::no) {
      node_.fail(what + ": " + a.to_string() + " is not " + b.to_string());
    }
  }
  void require_less_equal(Dim a, Dim b, const std::string& what) override {
    if (less_equal(a, b) == Truth::no) {
      node_.fail(what + ": " + a.to_string() + " is not at most " + b.to_string());
    }
  }

 private:
  const CheckedNode& node_;
};

class Verifier {
 public:
  void graph(const Graph& g) {
    // Regions may share a graph, and nested ones could be reached exponentially often.
    if (!done_.insert(&g).second) return;
    std::unordered_set<std::uint32_t> scope;
    for (Symbol s : g.dims()) scope.insert(s.id());
    auto fail = [&](const std::string& rule) {
      throw InternalError("verify: " + rule + "\n  in the signature of graph @" + g.name());
    };
    auto in_scope = [&](Dim d) {
      return !d.mentions([&](Symbol s) { return !scope.contains(s.id()); });
    };
    auto label = [&](const Label& l, Type t) {
      if (!l.axes.empty() && l.axes.size() != static_cast<std::size_t>(t.rank())) {
        fail("a label names " + std::to_string(l.axes.size()) + " axes of " + t.to_string());
      }
    };
    for (std::size_t k = 0; k < g.param_count(); ++k) {
      const Type t = g.type(static_cast<ValueId>(k));
      if (!t) fail("a parameter has no type");
      if (!std::ranges::all_of(t.shape(), in_scope)) fail("a parameter's size is out of scope");
      if (negative(t)) fail("a parameter's size is negative");
      label(g.param_label(k), t);
    }
    for (std::uint32_t i = 0; i < g.node_count(); ++i) node({g, g.node(i), scope}, scope);
    for (std::size_t k = 0; k < g.results().size(); ++k) {
      if (g.results()[k] >= g.value_count()) fail("a result is not defined");
      label(g.result_label(k), g.type(g.results()[k]));
    }
    if (!std::ranges::all_of(g.result_dims(), in_scope)) fail("a result dim is out of scope");
    for (const Constraint& c : g.constraints()) {
      if (!in_scope(c.a) || !in_scope(c.b)) fail("a constraint is about a size out of scope");
    }
  }

 private:
  static bool negative(Type t) {
    return std::ranges::any_of(t.shape(), [](Dim d) { return less_equal(0, d) == Truth::no; });
  }

  void node(const CheckedNode& c, std::unordered_set<std::uint32_t>& scope) {
    const Node& n = c.node;
    const OpDef& op = n.op();
    for (ValueId v : n.operands())
      c.check(v < n.result(), "an operand is used before it is defined");
    for (Type t : n.result_types()) c.check(static_cast<bool>(t), "a result has no type");
    c.check(!op.parse_attr == !n.attr(), "attributes of another op");
    if (n.attr()) {
      n.attr()->each_dim(
          [&](Dim d) { c.check(c.in_scope(d), "a size of the attributes is out of scope"); });
    }
    if (op.region_kind == RegionKind::none) {
      c.check(n.regions().empty(), "the op has no regions");
      c.check(n.bound().empty(), "only nodes with regions bind sizes");
      inference(c);
    } else {
      verify_regions(c);
      for (const Region& r : n.regions()) graph(*r.graph);
    }
    for (Symbol s : n.bound()) c.check(scope.insert(s.id()).second, "a size is bound twice");
    for (Type t : n.result_types()) {
      c.check(std::ranges::all_of(t.shape(), [&](Dim d) { return c.in_scope(d); }),
              "a size of a result is out of scope");
      c.check(!negative(t), "a size of a result is negative");
    }
  }

  void inference(const CheckedNode& c) {
    in_.clear();
    for (ValueId v : c.node.operands()) in_.push_back(c.graph.type(v));
    Inference context(c);
    context.op = &c.node.op();
    context.attr = c.node.attr().get();
    context.in = in_;
    try {
      c.node.op().infer(context);
    } catch (const UserError& e) {
      c.fail(e.what());
    }
    c.check(context.out.size() == c.node.result_count(), "another number of results is inferred");
    for (std::size_t k = 0; k < context.out.size(); ++k) {
      if (equal(context.out[k], c.node.result_types()[k]) == Truth::no) {
        c.fail("result " + std::to_string(k) + " is inferred as " + context.out[k].to_string());
      }
    }
  }

  std::unordered_set<const Graph*> done_;
  std::vector<Type> in_;
};

}  // namespace

void verify(const Graph& g) { Verifier().graph(g); }

}  // namespace tlaloc::ir
