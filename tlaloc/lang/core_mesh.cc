#include "tlaloc/lang/core_mesh.h"

#include <array>

#include "tlaloc/lang/core_impl.h"
#include "tlaloc/lang/regions.h"
#include "tlaloc/ops/val_sharding.h"

namespace tlaloc::core {
namespace {

ir::Mesh mesh_of(std::span<const MeshSpec> axes) {
  ir::Mesh m{"mesh", {}, {}};
  for (const MeshSpec& a : axes) m.axes.push_back({a.name, a.devices});
  return m;
}
std::vector<ir::AxisRef> axes_of(std::span<const AxisPartSpec> parts) {
  std::vector<ir::AxisRef> r;
  for (const AxisPartSpec& p : parts) r.push_back({p.axis, p.before, p.size});
  return r;
}
std::vector<ir::ShardSpec> specs_of(std::span<const ShardingSpec> shardings) {
  std::vector<ir::ShardSpec> r;
  for (const ShardingSpec& s : shardings) {
    ir::ShardSpec& spec = r.emplace_back();
    for (const DimShardingSpec& d : s.dims) {
      auto& axes = spec.dims.emplace_back();
      for (const AxisPartSpec& p : d.axes) axes.emplace_back(p.axis);
    }
  }
  return r;
}

}  // namespace

Ref sharding_constraint(const Ref& x, const ShardingSpec& s, Where where) {
  ir::Sharding sharding{mesh_of(s.mesh), {}, axes_of(s.replicated)};
  for (const DimShardingSpec& d : s.dims) {
    ir::DimSharding& dim = sharding.dims.emplace_back(axes_of(d.axes), d.open);
    if (d.priority >= 0) dim.priority = d.priority;
  }
  return apply(
      {"sharding_constraint", where}, std::array{x}, node(x).labels,
      [&](std::span<const ir::Val> in) { return ops::sharding_constraint(in[0], sharding); });
}

Leaves manual(const ManualSpec& spec, const Function& body, const Leaves& args, const Leaves& parts,
              Where where) {
  const OpCall call{"manual_computation", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    ir::ManualAttrs attrs{mesh_of(spec.mesh), {}, specs_of(spec.in), specs_of(spec.out)};
    for (const ir::NamedAxis& a : attrs.mesh.axes) attrs.axes.push_back(a.name);
    Signature signature = exact_signature(args);
    const std::vector<ir::Type> wholes = signature.types;
    signature.types = ops::shard_types(attrs, wholes);
    for (std::size_t k = 0; k < wholes.size(); ++k) {
      signature.labels[k] = labels_of(parts.data().info[k].axes);
    }
    const std::array closures{trace_closure(body, parts, std::move(signature))};
    require_known_sizes(call, closures[0]);
    ops::check_results(attrs, closures[0].graph->result_types());
    std::vector<std::vector<AxisLabel>> labels;
    for (AxesSpec axes : spec.result_axes) labels.push_back(labels_of(axes));
    const auto& values = args.data().values;
    const std::vector<Ref> out =
        staged(call, values, in_trace(values, closures), labels, [&](std::span<const Ref> in) {
          const MergedRegions regions(closures, in);
          return ops::emit_checked_manual(attrs, regions.operands(),
                                          regions.graph(0, MergedRegions::Extras::last));
        });
    return with_values(closures[0].results, out);
  });
}

}  // namespace tlaloc::core
