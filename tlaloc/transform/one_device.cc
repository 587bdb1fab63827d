#include "tlaloc/transform/one_device.h"

#include <unordered_map>

#include "tlaloc/transform/batch.h"
#include "tlaloc/transform/device_lanes.h"
#include "tlaloc/transform/rewrite.h"

namespace tlaloc::transform {
namespace {

/// Whether a graph holds anything of meshes; by graph, since regions share theirs.
class Concerns {
 public:
  bool operator()(const ir::Graph& g) {
    const auto known = known_.find(&g);
    if (known != known_.end()) return known->second;
    bool found = false;
    for (std::uint32_t i = 0; i < g.node_count() && !found; ++i) {
      const Node n = g.node(i);
      found = n.region_kind() == RegionKind::manual || &n.op() == &ops::rows::ShardingConstraint;
      for (const Region& r : n.regions()) found = found || (*this)(*r.graph);
    }
    known_.emplace(&g, found);
    return found;
  }

 private:
  std::unordered_map<const ir::Graph*, bool> known_;
};

bool is_cut(const ir::ShardSpec& spec) {
  for (const auto& d : spec.dims) {
    if (!d.empty()) return true;
  }
  return false;
}

/// `body`: without shardings itself.
Vals all_devices(const Node& n, const Vals& args, const GraphRef& body, const DimMap& dims) {
  const auto& a = n.as<ir::ManualAttrs>();
  const DeviceLanes devices(a);
  Context ctx;
  ctx.devices = &devices;
  const Dim lanes(devices.count());
  Mask cut;
  Vals in;
  for (std::size_t k = 0; k < args.size(); ++k) {
    cut.push_back(is_cut(a.in[k]));
    in.push_back(cut[k] ? devices.cut(args[k], a.in[k]) : args[k]);
  }
  Mask force;
  for (const ir::ShardSpec& spec : a.out) force.push_back(is_cut(spec));
  const Batched& b = batch_graph(ctx, body, {cut, lanes, false, {}, force, false});
  const DimMap map = region_map({body, n.region(0).dims}, dims);
  std::vector<Dim> entry;
  for (Symbol s : b.graph->dims()) entry.push_back(map.get(s));
  Vals out = inline_graph(*b.graph, in, entry).results;
  for (std::size_t k = 0; k < a.out.size(); ++k) {
    if (b.out[k]) out[k] = devices.join(out[k], a.out[k]);
  }
  return out;
}

}  // namespace

ir::GraphRef on_one_device(const ir::Graph& g) {
  Concerns concerns;
  if (!concerns(g)) return nullptr;
  return rewrite_graph(
      g,
      [](const Node& n, ir::Copier& c, const RewriteGraph& inner) -> std::optional<Vals> {
        if (&n.op() == &ops::rows::ShardingConstraint) return c.operands(n);
        if (n.region_kind() != RegionKind::manual) return {};
        const ir::OriginScope origin(n.origin_ref());
        return all_devices(n, Vals(c.operands(n)), inner(n.region(0).graph), c.dims);
      },
      [&](const ir::Graph& inner) { return concerns(inner); });
}

}  // namespace tlaloc::transform
