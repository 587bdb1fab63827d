#include "tlaloc/transform/jvp.h"

#include "tlaloc/transform/dce.h"

namespace tlaloc::transform {
namespace {

ir::OriginRef tangent_origin(const Node& n) {
  ir::Origin o = n.origin();
  o.role = ir::Role::tangent;
  return std::make_shared<const ir::Origin>(std::move(o));
}

ir::Label tangent_label(ir::Label of) {
  if (!of.name.empty()) of.name = "d_" + of.name;
  return of;
}

/// `types` is a buffer.
void tangents_by_rule(const Node& n, ir::Copier& c, std::span<const Val> t, std::span<Val> dy,
                      std::vector<Type>& types) {
  bool differentiable = false;
  for (Type r : n.result_types()) differentiable = differentiable || is_differentiable(r.dtype());
  if (!differentiable) return;
  if (!n.op().jvp) {
    refuse("TL-GRAD-003", n.op(), std::string("has no derivative: ") + n.op().jvp.refusal,
           "wrap it in stop_gradient, or give the function a custom rule", n.origin());
  }
  ir::AttrRef substituted;
  if (n.attr() && n.attr()->has_dims() && !c.dims.empty()) {
    substituted = n.attr()->substitute(c.dims);
  }
  const ir::Attr* attr = substituted ? substituted.get() : n.attr().get();
  Builder& b = Builder::current();
  const Vals& x = c.operands(n);
  const std::span<const Val> y = std::span(c.env).subspan(n.result(), n.result_count());
  types.clear();
  for (Val v : x) types.push_back(b.type(v));
  for (Val v : y) types.push_back(b.type(v));
  std::optional<ir::OriginScope> scope;
  if (!n.origin().name.empty() || n.origin().place.known()) scope.emplace(tangent_origin(n));
  const std::span<const Type> all(types);
  n.op().jvp.fn({&n.op(), attr, x, y, all.first(x.size()), all.subspan(x.size())}, t, dy);
}

}  // namespace

const Masked& jvp_graph(Context& ctx, const GraphRef& g, const Mask& active, const Mask& force) {
  const Key key = Key() << g << active << force;
  if (const Masked* known = ctx.jvp.find(key)) return *known;
  Builder b(g->name());
  b.expect(*g, 4);  // the node, and its rule: three or so more
  ir::Copier c(*g);
  c.declare_all();
  Vals tangent(g->value_count());
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    if (!active[k]) continue;
    tangent[k] = b.param(g->type(static_cast<ValueId>(k)), tangent_label(g->param_label(k)));
  }
  Vals t;
  std::vector<Type> types;
  for (std::uint32_t i = 0; i < g->node_count(); ++i) {
    const Node n = g->node(i);
    t.clear();
    bool moves = false;
    for (ValueId v : n.operands()) {
      t.push_back(tangent[v]);
      moves = moves || tangent[v];
    }
    if (moves && n.region_kind() != RegionKind::none) {
      const Vals x = c.operands(n);
      const PrimalTangent r = jvp_region(ctx, n, x, t, c.dims);
      c.set(n, r.primal);
      std::copy(r.tangent.begin(), r.tangent.end(), tangent.begin() + n.result());
      continue;
    }
    c.copy(n);
    if (!moves) continue;
    tangents_by_rule(n, c, t, std::span(tangent).subspan(n.result(), n.result_count()), types);
  }
  c.copy_constraints();
  Masked result;
  Vals out, tangents;
  std::vector<ir::Label> labels, tangent_labels;
  for (std::size_t k = 0; k < g->results().size(); ++k) {
    const ValueId v = g->results()[k];
    out.push_back(c.env[v]);
    Val dv = tangent[v];
    if (!dv && !force.empty() && force[k]) dv = ops::zeros_like(c.env[v]);
    result.out.push_back(static_cast<bool>(dv));
    labels.push_back(g->result_label(k));
    if (!dv) continue;
    tangents.push_back(dv);
    tangent_labels.push_back(tangent_label(g->result_label(k)));
  }
  labels.insert(labels.end(), tangent_labels.begin(), tangent_labels.end());
  Builder::Close close;
  close.result_dims = c.result_dims();
  close.result_labels = std::move(labels);
  result.graph = dce_graph(ctx, b.build(join(out, tangents), std::move(close)));
  return ctx.jvp.put(key, g, std::move(result));
}

}  // namespace tlaloc::transform
