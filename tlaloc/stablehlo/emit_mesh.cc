// What a module declares of meshes, and how its arguments and results lie on them.
#include <algorithm>
#include <unordered_set>

#include "tlaloc/ir/names.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/sharding.h"
#include "tlaloc/stablehlo/emitter.h"
#include "tlaloc/stablehlo/mesh_text.h"

namespace tlaloc::stablehlo {
namespace {

/// Functions are called @main, or end in a number.
std::string symbol_for(const ir::Mesh& mesh) {
  std::string name = ir::to_identifier(mesh.name.empty() ? "mesh" : mesh.name);
  const std::size_t digits = name.find_last_not_of("0123456789");
  const bool numbered = digits != name.size() - 1 && name[digits] == '_';
  return name == "main" || numbered ? name + "_mesh" : name;
}

/// Axes that are not manual may cut it further.
ir::Sharding as_sharding(const ir::Mesh& mesh, const ir::ShardSpec& spec) {
  ir::Sharding s{mesh, {}, {}};
  for (const auto& axes : spec.dims) {
    ir::DimSharding& d = s.dims.emplace_back();
    d.open = true;
    for (const std::string& axis : axes) d.axes.push_back({axis});
  }
  return s;
}

}  // namespace

std::string Emitter::mesh_symbol(const ir::Node& node, const ir::Mesh& mesh) {
  for (const auto& [name, known] : meshes_) {
    if (known == mesh) return name;
  }
  if (!meshes_.empty() && meshes_[0].second.devices() != mesh.devices()) {
    refuse(node, "meshes of " + std::to_string(meshes_[0].second.devices()) + " and of " +
                     std::to_string(mesh.devices()) + " devices can't be in one module");
  }
  std::string name = symbol_for(mesh);
  while (std::ranges::find(meshes_, name, [](const auto& m) { return m.first; }) != meshes_.end()) {
    name += "_too";
  }
  meshes_.emplace_back(name, mesh);
  if (devices_ > 1) refuse(node, "collectives run over replicas, outside of the mesh");
  return name;
}

std::string Emitter::sharding_attribute(const ir::Node& node, const ir::Sharding& sharding) {
  return "#sdy.sharding<" + sharding_text(sharding, mesh_symbol(node, sharding.mesh)) + ">";
}

Value Emitter::whole(const ir::Node& node, const Value& x) {
  if (!options_.fixed_layouts || !mesh_) return x;
  const ir::Sharding s{*mesh_, std::vector<ir::DimSharding>(x.type.rank()), {}};
  return op("sdy.sharding_constraint", {x}, x.type, "sharding = " + sharding_attribute(node, s));
}

namespace {

/// Calls f with the mesh of each node that has one, in regions too.
template <class F>
void each_mesh(const ir::Graph& g, const F& f) {
  std::unordered_set<const ir::Graph*> seen;
  std::vector<const ir::Graph*> todo{&g};
  while (!todo.empty()) {
    const ir::Graph& next = *todo.back();
    todo.pop_back();
    if (!seen.insert(&next).second) continue;
    for (std::uint32_t i = 0; i < next.node_count(); ++i) {
      const ir::Node n = next.node(i);
      if (n.region_kind() == ir::RegionKind::manual) {
        f(n.as<ir::ManualAttrs>().mesh);
      } else if (&n.op() == &ops::rows::ShardingConstraint) {
        f(n.as<ops::ShardingAttrs>().sharding.mesh);
      }
      for (const ir::Region& r : n.regions()) todo.push_back(r.graph.get());
    }
  }
}

}  // namespace

std::int64_t mesh_devices(const ir::Graph& g) {
  std::int64_t devices = 0;
  each_mesh(g, [&](const ir::Mesh& m) { devices = std::max(devices, m.devices()); });
  return devices;
}

void Emitter::find_mesh(const ir::Graph& g) {
  each_mesh(g, [&](const ir::Mesh& m) {
    if (!mesh_ && m.devices() > 1) mesh_ = m;
  });
}

Layouts layouts_of(const ir::Graph& g, bool of_manual) {
  Layouts r{std::vector<std::optional<ir::Sharding>>(g.param_count()),
            std::vector<std::optional<ir::Sharding>>(g.results().size())};
  auto sharding = [&](std::uint32_t node) {
    return g.node(node).as<ops::ShardingAttrs>().sharding;
  };
  auto is_constraint = [&](std::uint32_t node) {
    return node != ir::kNoNode && &g.node(node).op() == &ops::rows::ShardingConstraint;
  };
  // An argument that is read by one constraint alone lies like that.
  std::vector<std::uint32_t> reader(g.param_count(), ir::kNoNode);
  std::vector<bool> shared(g.param_count());
  auto read = [&](ir::ValueId v, std::uint32_t by) {
    if (v >= g.param_count()) return;
    shared[v] = shared[v] || reader[v] != ir::kNoNode || by == ir::kNoNode;
    reader[v] = by;
  };
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    for (ir::ValueId v : g.node(i).operands()) read(v, i);
  }
  for (ir::ValueId v : g.results()) read(v, ir::kNoNode);
  auto is_manual = [&](std::uint32_t node) {
    return of_manual && node != ir::kNoNode && g.node(node).region_kind() == ir::RegionKind::manual;
  };
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    if (shared[k]) continue;
    if (is_constraint(reader[k])) r.params[k] = sharding(reader[k]);
    if (is_manual(reader[k])) {
      const ir::Node n = g.node(reader[k]);
      const auto operand = std::ranges::find(n.operands(), static_cast<ir::ValueId>(k));
      const auto& a = n.as<ir::ManualAttrs>();
      r.params[k] = as_sharding(a.mesh, a.in[usize(operand - n.operands().begin())]);
    }
  }
  for (std::size_t k = 0; k < g.results().size(); ++k) {
    const ir::ValueId v = g.results()[k];
    const std::uint32_t node = g.producer(v);
    if (is_constraint(node)) r.results[k] = sharding(node);
    if (is_manual(node)) {
      const ir::Node n = g.node(node);
      const auto& a = n.as<ir::ManualAttrs>();
      r.results[k] = as_sharding(a.mesh, a.out[v - n.result(0)]);
    }
  }
  return r;
}

void Emitter::fix_layouts(Layouts& layouts, const Values& params, const Values& results) const {
  if (meshes_.empty()) return;
  auto fix = [&](std::vector<std::optional<ir::Sharding>>& all, const Values& values) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!all[k]) {
        all[k] = {meshes_[0].second, std::vector<ir::DimSharding>(values[k].type.rank()), {}};
      }
      for (ir::DimSharding& d : all[k]->dims) d = {.axes = d.axes, .open = false, .priority = {}};
      all[k]->replicated.clear();
    }
  };
  fix(layouts.params, params);
  fix(layouts.results, results);
}

std::string Emitter::layout_attribute(const std::optional<ir::Sharding>& layout) const {
  if (!layout) return {};
  // Its constraint was emitted, so the mesh has a name.
  for (const auto& [name, mesh] : meshes_) {
    if (mesh == layout->mesh) {
      return "sdy.sharding = #sdy.sharding<" + sharding_text(*layout, name) + ">";
    }
  }
  throw InternalError("a layout's mesh is not declared");
}

std::string Emitter::mesh_declarations() const {
  std::string s;
  for (const auto& [name, mesh] : meshes_) {
    s += "  sdy.mesh @" + name + " = <" + mesh_text(mesh) + ">\n";
  }
  return s;
}

}  // namespace tlaloc::stablehlo
