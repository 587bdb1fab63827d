#include "tlaloc/transform/inline_calls.h"

#include <unordered_map>

#include "tlaloc/ir/builder.h"

namespace tlaloc::transform {
namespace {

using ir::Graph;
using ir::GraphRef;
using ir::Node;
using Keep = std::function<bool(const Node&)>;

class Inliner {
 public:
  explicit Inliner(const Keep& keep) : keep_(keep) {}

  GraphRef run(const GraphRef& g) {
    if (!g->has_regions()) return g;
    auto [it, added] = done_.try_emplace(g.get());
    if (added) {
      // The map may grow while this graph's regions are visited.
      GraphRef made = rebuild(*g);
      done_[g.get()] = {g, made};
      return made;
    }
    return it->second.made;
  }

 private:
  struct Entry {
    GraphRef original;  // kept, so that its address stays its own
    GraphRef made;
  };

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

  void visit(ir::Builder& b, ir::Copier& c, const Node& n) {
    if (n.regions().empty()) return c.copy(n);
    if (n.region_kind() == ir::RegionKind::call && !(keep_ && keep_(n))) return inline_call(c, n);
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

  void inline_call(ir::Copier& c, const Node& n) {
    const ir::Region& callee = n.region(0);
    const GraphRef body = run(callee.graph);
    std::vector<ir::Dim> entry;
    for (const auto& d : callee.dims) entry.push_back(d->substitute(c.dims));
    const ir::Inlined r = ir::inline_graph(*body, ir::Vals(c.operands(n)), entry);
    const auto dims = body->result_dims();
    for (std::size_t k = 0; k < n.bound().size(); ++k) {
      c.dims.set(n.bound()[k], dims[k].substitute(r.dims));
    }
    c.set(n, r.results);
  }

  const Keep& keep_;
  std::unordered_map<const Graph*, Entry> done_;
};

}  // namespace

ir::GraphRef inline_calls(const ir::GraphRef& g, const std::function<bool(const Node&)>& keep) {
  return Inliner(keep).run(g);
}

}  // namespace tlaloc::transform
