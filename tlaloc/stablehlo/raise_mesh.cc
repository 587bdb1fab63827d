// Shardy's dialect: constraints and manual computations.
#include <algorithm>
#include <optional>

#include "tlaloc/ops/val_sharding.h"
#include "tlaloc/stablehlo/mesh_text.h"
#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo::raising {
namespace {

using ir::Vals;

Vals constraint(const Site& s) {
  s.expect_operands(1);
  // JAX puts them on the scalars of reducers too, which lie nowhere.
  if (s.scope().closed) return {s.in(0)};
  return {s.importer().laid_out(s.in(0), s.attribute({"sharding"}))};
}

/// By manual axes alone: others say nothing that the body depends on, so they must be left open.
std::vector<ir::ShardSpec> specs(const Site& s, std::string_view name, ir::ManualAttrs& manual,
                                 std::optional<ir::Mesh>& mesh) {
  const Source& source = s.importer().source();
  const Attribute& a = s.attribute({name});
  const auto shardings = parse_shardings(
      source, in_brackets(source, a), [&](std::string_view symbol, Offset at) -> const ir::Mesh& {
        return s.importer().mesh(symbol, at);
      });
  std::vector<ir::ShardSpec> r;
  for (const ir::Sharding& sharding : shardings) {
    if (!mesh) manual.mesh = *(mesh = sharding.mesh);
    if (sharding.mesh != manual.mesh) s.unsupported("its shardings are on several meshes");
    ir::ShardSpec& spec = r.emplace_back();
    for (const ir::DimSharding& d : sharding.dims) {
      auto& axes = spec.dims.emplace_back();
      for (const ir::AxisRef& axis : d.axes) {
        if (axis.size) s.unsupported("an operand or result is cut along a part of an axis");
        if (std::ranges::find(manual.axes, axis.axis) == manual.axes.end()) {
          s.unsupported(
              "an operand or result is cut along axis '" + axis.axis + "', which is not manual",
              "put a sharding_constraint around it");
        }
        axes.push_back(axis.axis);
      }
    }
  }
  return r;
}

Vals manual_computation(const Site& s) {
  s.expect_regions(1);
  const Source& source = s.importer().source();
  const Block& body = s.op().regions[0];
  ir::ManualAttrs attrs;
  attrs.axes = parse_axes(source, in_brackets(source, s.attribute({"manual_axes"})));
  std::optional<ir::Mesh> mesh;
  attrs.in = specs(s, "in_shardings", attrs, mesh);
  attrs.out = specs(s, "out_shardings", attrs, mesh);
  if (!mesh) s.unsupported("it has neither operands nor results, so that nothing names its mesh");
  if (attrs.out.size() != s.op().result_count || body.param_count != s.count()) {
    s.fail("it has another number of params, results or shardings");
  }
  if (s.scope().manual) s.unsupported("it stands within another one");
  Vals args(s.in().begin(), s.in().end());
  const bool asks = s.importer().asks_for_device(body);
  if (asks) {
    // Numbers of which each device has one, its own.
    auto& numbered = attrs.in.emplace_back().dims.emplace_back();
    for (const ir::NamedAxis& a : attrs.mesh.axes) {
      if (std::ranges::find(attrs.axes, a.name) != attrs.axes.end()) numbered.push_back(a.name);
    }
    args.push_back(ops::iota(ir::Type::get(DType::i64, {attrs.devices()}), 0));
  }
  return ops::manual(attrs, args, [&](Vals parts) {
    if (asks) {
      s.scope().device = ops::reshape(parts.back(), {});
      parts.pop_back();
    }
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const TensorSpec& said =
          *s.scope().function.type(body.first_param + static_cast<ValueIndex>(k));
      bool same = said.dtype == parts[k].dtype() && said.extents.size() == usize(parts[k].rank());
      if (std::ranges::find_if(said.extents, [](auto e) { return e < 0; }) != said.extents.end()) {
        s.unsupported("its parts have sizes that only a run knows");
      }
      for (std::size_t i = 0; same && i < said.extents.size(); ++i) {
        same = parts[k].dim(static_cast<int>(i)) == ir::Dim(said.extents[i]);
      }
      if (!same) {
        s.fail("its param " + std::to_string(k) + " is of another type than " +
               parts[k].type().to_string());
      }
    }
    s.scope().manual = &attrs;
    Vals results = s.importer().block(s.scope(), body, parts);
    s.scope().manual = nullptr;
    s.scope().device = {};
    if (results.size() != attrs.out.size()) s.fail("its body returns another number of values");
    return results;
  });
}

}  // namespace

void add_mesh(RaiseTable& t) {
  t["sdy.sharding_constraint"] = constraint;
  t["sdy.manual_computation"] = manual_computation;
}

}  // namespace tlaloc::stablehlo::raising
