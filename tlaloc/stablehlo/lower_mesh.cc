// Shardings, manual computations, and what devices of a mesh exchange.
#include <algorithm>
#include <limits>

#include "tlaloc/ops/collectives.h"
#include "tlaloc/ops/sharding.h"
#include "tlaloc/stablehlo/emitter.h"
#include "tlaloc/stablehlo/mesh_text.h"

namespace tlaloc::stablehlo::lowering {
namespace {

/// Which devices meet, as attributes. In a manual computation those of its mesh; elsewhere replicas
/// 0, 1, … of the module. Nothing where a device meets nobody.
std::string meeting(Emitter& e, const Op& op, const ops::MeshAxis& over) {
  const std::int64_t devices = e.extent(op.frame, over.devices, &op.node);
  const ir::ManualAttrs* manual = nullptr;
  for (const ir::ManualAttrs* m : e.manual) {
    if (std::ranges::find(m->axes, over.name) != m->axes.end()) manual = m;
  }
  if (manual && manual->mesh.size_of(over.name) != devices) {
    refuse(op.node, "axis '" + over.name + "' has " +
                        std::to_string(manual->mesh.size_of(over.name)) + " devices here");
  }
  if (!manual && !e.manual.empty()) {
    refuse(op.node, "axis '" + over.name + "' is not one of the manual computation's");
  }
  if (devices == 1) return {};
  Extents all;
  std::int64_t count = 1;
  if (manual) {
    const std::string axes[] = {over.name};
    const auto groups = device_groups(manual->mesh, axes);
    count = static_cast<std::int64_t>(groups.size());
    std::string rows;
    for (const auto& g : groups) rows += (rows.empty() ? "" : ", ") + list_text(g);
    return "channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = "
           "dense<[" +
           rows + "]> : tensor<" + std::to_string(count) + "x" + std::to_string(devices) +
           "xi64>, use_global_device_ids";
  }
  e.use_devices(op.node, over.name, devices);
  for (std::int64_t i = 0; i < devices; ++i) all.push_back(i);
  return "replica_groups = dense<[" + list_text(all) + "]> : tensor<1x" + std::to_string(devices) +
         "xi64>";
}
Region reducer(Emitter& e, DType t, const char* name) {
  return {{{t, {}}, {t, {}}},
          [&e, name](const Values& v) -> Values { return {e.binary(name, v[0], v[1])}; }};
}

}  // namespace

Values AllReduce(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::AllReduceAttrs>();
  const std::string who = meeting(e, op, a.over);
  if (who.empty()) return {op.in[0]};
  constexpr const char* kNames[] = {"add", "maximum", "minimum"};
  const auto over_all = [&](const Value& x, const char* name) {
    const Region region[] = {reducer(e, x.type.dtype, name)};
    return e.op("stablehlo.all_reduce", std::span(&x, 1), std::span(&x.type, 1), who, region)[0];
  };
  const Value y = over_all(op.in[0], kNames[static_cast<std::size_t>(a.reduction)]);
  const bool exact = a.reduction == ops::Collective::sum || !is_float(y.type.dtype);
  if (exact || !e.options().fixed_layouts) return {y};
  // XLA's own code between devices loses NaN, which StableHLO's maximum does not.
  const Value nan = e.convert(e.compare("NE", op.in[0], op.in[0]), DType::i32);
  return {e.select(e.compare("NE", over_all(nan, "maximum"), e.splat(0, nan.type)),
                   e.splat(std::numeric_limits<double>::quiet_NaN(), y.type), y)};
}
Values AllGather(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::ExchangeAttrs>();
  const std::string who = meeting(e, op, a.over);
  if (who.empty()) return {op.in[0]};
  return {e.op("stablehlo.all_gather", op.in, op.out[0],
               "all_gather_dim = " + std::to_string(a.axis) + " : i64, " + who)};
}
Values ReduceScatter(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::ExchangeAttrs>();
  const std::string who = meeting(e, op, a.over);
  if (who.empty()) return {op.in[0]};
  const Region region[] = {reducer(e, op.out[0].dtype, "add")};
  return e.op("stablehlo.reduce_scatter", op.in, op.out,
              "scatter_dimension = " + std::to_string(a.axis) + " : i64, " + who, region);
}

Values ShardingConstraint(Emitter& e, const Op& op) {
  const ir::Sharding& s = op.as<ops::ShardingAttrs>().sharding;
  for (const ir::ManualAttrs* m : e.manual) {
    for (const ir::DimSharding& d : s.dims) {
      for (const ir::AxisRef& a : d.axes) {
        if (std::ranges::find(m->axes, a.axis) == m->axes.end()) continue;
        refuse(op.node, "axis '" + a.axis + "' is manual here: what lies along it are the parts");
      }
    }
  }
  return {e.op("sdy.sharding_constraint", op.in, op.out[0],
               "sharding = " + e.sharding_attribute(op.node, s))};
}

Values Manual(Emitter& e, const Op& op) {
  const auto& a = op.as<ir::ManualAttrs>();
  if (!e.manual.empty()) refuse(op.node, "it stands within another one");
  Frame f = e.region_frame(op, 0);
  for (const auto& [symbol, size] : f.sizes) {
    if (size.length) {
      refuse(op.node, "its operands have sizes that only a run finds out");
    }
  }
  if (e.may_exceed(f.graph)) refuse(op.node, "it holds a loop with a limit");
  const std::string mesh = e.mesh_symbol(op.node, a.mesh);
  auto shardings = [&](const std::vector<ir::ShardSpec>& specs) {
    std::string s;
    for (const ir::ShardSpec& spec : specs) {
      s += (s.empty() ? "<" : ", <") + spec_text(a, spec, mesh) + ">";
    }
    return "#sdy.sharding_per_value<[" + s + "]>";
  };
  std::vector<TensorType> params, results;
  for (ir::Type t : f.graph.param_types()) params.push_back(e.type(f, t, &op.node));
  for (ir::Type t : op.node.result_types()) results.push_back(e.type(op.frame, t, &op.node));
  e.manual.push_back(&a);
  const Region body[] = {
      {params, [&](const Values& args) { return e.graph(f, args); }, "sdy.return"}};
  Values out = e.op("sdy.manual_computation", op.in, results,
                    "in_shardings = " + shardings(a.in) + ", manual_axes = #sdy<manual_axes" +
                        axes_text(a.axes) + ">, out_shardings = " + shardings(a.out),
                    body);
  e.manual.pop_back();
  return out;
}

}  // namespace tlaloc::stablehlo::lowering
