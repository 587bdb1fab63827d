#include "tlaloc/transform/rewrite.h"

#include <unordered_map>

namespace tlaloc::transform {
namespace {

using ir::Graph;
using ir::GraphRef;
using ir::Node;

class Rewriter {
 public:
  Rewriter(const RewriteNode& rewrite, const std::function<bool(const Graph&)>& concerns)
      : rewrite_(rewrite),
        concerns_(concerns),
        inner_([this](const GraphRef& g) { return run(g); }) {}

  GraphRef rebuild(const Graph& g) {
    ir::Builder b(g.name());
    ir::Copier c(g);
    c.declare_all();
    b.expect(g);
    for (std::uint32_t i = 0; i < g.node_count(); ++i) visit(b, c, g.node(i));
    c.copy_constraints();
    ir::Builder::Close close;
    close.result_dims = c.result_dims();
    for (std::size_t k = 0; k < g.results().size(); ++k) {
      close.result_labels.push_back(g.result_label(k));
    }
    close.dims.assign(g.dims().begin(), g.dims().end());
    return b.build(c.results(), std::move(close));
  }

 private:
  struct Entry {
    GraphRef original;  // kept, so that its address stays its own
    GraphRef made;
  };

  GraphRef run(const GraphRef& g) {
    if (!concerns_(*g)) return g;
    const auto known = done_.find(g.get());
    if (known != done_.end()) return known->second.made;
    GraphRef made = rebuild(*g);
    done_.emplace(g.get(), Entry{g, made});
    return made;
  }

  void visit(ir::Builder& b, ir::Copier& c, const Node& n) {
    if (const auto results = rewrite_(n, c, inner_)) return c.set(n, *results);
    if (n.regions().empty()) return c.copy(n);
    std::vector<ir::Region> regions;
    for (const ir::Region& r : n.regions()) {
      ir::Region copy{run(r.graph), {}};
      for (const auto& d : r.dims) {
        copy.dims.push_back(d ? std::optional(d->substitute(c.dims)) : std::nullopt);
      }
      regions.push_back(std::move(copy));
    }
    std::vector<ir::Symbol> bound;
    for (ir::Symbol s : n.bound()) {
      bound.push_back(ir::Symbol::like(s));
      c.dims.set(s, bound.back());
    }
    std::vector<ir::Type> types;
    for (ir::Type t : n.result_types()) types.push_back(t.substitute(c.dims));
    const ir::OriginScope origin(n.origin_ref());
    const ir::AttrRef attr = n.attr() ? n.attr()->substitute(c.dims) : nullptr;
    const auto r = b.emit_region(n.op(), attr, c.operands(n), types, std::move(regions), bound);
    for (std::size_t k = 0; k < r.bound.size(); ++k) c.dims.set(n.bound()[k], r.bound[k]);
    c.set(n, r.out);
  }

  const RewriteNode& rewrite_;
  const std::function<bool(const Graph&)>& concerns_;
  const RewriteGraph inner_;
  std::unordered_map<const Graph*, Entry> done_;
};

}  // namespace

GraphRef rewrite_graph(const Graph& g, const RewriteNode& rewrite,
                       const std::function<bool(const Graph&)>& concerns) {
  return Rewriter(rewrite, concerns).rebuild(g);
}

}  // namespace tlaloc::transform
