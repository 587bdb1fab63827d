#include "tlaloc/transform/inline_calls.h"

#include "tlaloc/transform/rewrite.h"

namespace tlaloc::transform {

using ir::Node;

ir::GraphRef inline_calls(const ir::GraphRef& g, const std::function<bool(const Node&)>& keep) {
  if (!g->has_regions()) return g;
  return rewrite_graph(
      *g,
      [&](const Node& n, ir::Copier& c, const RewriteGraph& inner) -> std::optional<ir::Vals> {
        if (n.region_kind() != ir::RegionKind::call || (keep && keep(n))) return {};
        const ir::Region& callee = n.region(0);
        const ir::GraphRef body = inner(callee.graph);
        std::vector<ir::Dim> entry;
        for (const auto& d : callee.dims) entry.push_back(d->substitute(c.dims));
        const ir::Inlined r = ir::inline_graph(*body, ir::Vals(c.operands(n)), entry);
        const auto dims = body->result_dims();
        for (std::size_t k = 0; k < n.bound().size(); ++k) {
          c.dims.set(n.bound()[k], dims[k].substitute(r.dims));
        }
        return r.results;
      },
      [](const ir::Graph& inner) { return inner.has_regions(); });
}

}  // namespace tlaloc::transform
