#include "tlaloc/transform/jvp.h"

#include "tlaloc/transform/dce.h"

namespace tlaloc::transform {
namespace {

ir::OriginRef tangent_origin(const Node& n) {
  ir::Origin o = n.origin();
  o.role = ir::Role::tangent;
  return std::make_shared<const ir::Origin>(std::move(o));
}

Vals tangents_by_rule(const Node& n, const Vals& x, const Vals& y, const Vals& t,
                      const DimMap& dims) {
  Vals dy(n.result_count());
  bool differentiable = false;
  for (Type r : n.result_types()) differentiable = differentiable || is_differentiable(r.dtype());
  if (!differentiable) return dy;
  if (!n.op().jvp) {
    refuse("TL-GRAD-003", n.op(), std::string("has no derivative: ") + n.op().jvp.refusal,
           "wrap it in stop_gradient, or give the function a custom rule", n.origin());
  }
  ir::AttrRef attr = n.attr();
  if (attr && attr->has_dims() && !dims.empty()) attr = attr->substitute(dims);
  std::vector<Type> in_types, out_types;
  for (Val v : x) in_types.push_back(v.type());
  for (Val v : y) out_types.push_back(v.type());
  std::unique_ptr<ir::OriginScope> scope;
  if (!n.origin().name.empty() || n.origin().place.known()) {
    scope = std::make_unique<ir::OriginScope>(tangent_origin(n));
  }
  n.op().jvp.fn({&n.op(), attr.get(), x, y, in_types, out_types}, t, dy);
  return dy;
}

}  // namespace

const Masked& jvp_graph(Context& ctx, const GraphRef& g, const Mask& active, const Mask& force) {
  const Key key = Key() << g << active << force;
  if (const Masked* known = ctx.jvp.find(key)) return *known;
  Builder b(g->name());
  Vals primal(g->value_count()), tangent(g->value_count());
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    primal[k] = b.param(g->type(static_cast<ValueId>(k)), g->param_label(k));
  }
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    if (!active[k]) continue;
    ir::Label label = g->param_label(k);
    if (!label.name.empty()) label.name = "d_" + label.name;
    tangent[k] = b.param(g->type(static_cast<ValueId>(k)), std::move(label));
  }
  DimMap dims;
  Vals x, t;
  for (std::uint32_t i = 0; i < g->node_count(); ++i) {
    const Node n = g->node(i);
    x.clear();
    t.clear();
    bool moves = false;
    for (ValueId v : n.operands()) {
      x.push_back(primal[v]);
      t.push_back(tangent[v]);
      moves = moves || tangent[v];
    }
    PrimalTangent r;
    if (moves && !n.regions().empty() && n.region_kind() != RegionKind::none) {
      r = jvp_region(ctx, n, x, t, dims);
    } else {
      r.primal = copy_node(n, x, dims);
      if (moves) r.tangent = tangents_by_rule(n, x, r.primal, t, dims);
    }
    std::copy(r.primal.begin(), r.primal.end(), primal.begin() + n.result());
    std::copy(r.tangent.begin(), r.tangent.end(), tangent.begin() + n.result());
  }
  for (const ir::Constraint& c : g->constraints()) {
    b.require({c.kind, c.a.substitute(dims), c.b.substitute(dims), c.what, c.place});
  }
  Masked result;
  Vals out, tangents;
  for (std::size_t k = 0; k < g->results().size(); ++k) {
    const ValueId v = g->results()[k];
    out.push_back(primal[v]);
    Val dv = tangent[v];
    if (!dv && !force.empty() && force[k]) dv = ops::zeros_like(primal[v]);
    result.out.push_back(static_cast<bool>(dv));
    if (dv) tangents.push_back(dv);
  }
  Builder::Close close;
  close.result_dims = substitute(g->result_dims(), dims);
  result.graph = dce_graph(ctx, b.build(join(out, tangents), std::move(close)));
  return ctx.jvp.put(key, g, std::move(result));
}

}  // namespace tlaloc::transform
