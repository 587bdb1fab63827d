#include "tlaloc/ops/composite.h"

#include "tlaloc/base/error.h"

namespace tlaloc::ops {
namespace {

std::vector<Type> types_of(const Vals& vs) {
  std::vector<Type> r;
  for (Val v : vs) r.push_back(v.type());
  return r;
}
ir::GraphRef closed(const std::string& name, const std::vector<Type>& params, const Body& body) {
  Traced t = trace(params, body, name);
  internal_check(t.captured.empty(), "a composite reads a value that is no argument");
  return t.graph;
}

}  // namespace

Vals composite(const std::string& name, std::vector<ir::CallParam> params, const Vals& args,
               const Body& body) {
  const ir::GraphRef g = closed(name, types_of(args), body);
  ir::CallAttrs attrs;
  attrs.name = name;
  attrs.params = std::move(params);
  // The callee is traced on the arguments' own types: its sizes are the caller's.
  return emit_call(std::move(attrs), args, {ir::make_region(g, {})}, g->result_types()).out;
}
Val composite1(const std::string& name, std::vector<ir::CallParam> params, const Vals& args,
               const Body& body) {
  return composite(name, std::move(params), args, body)[0];
}
Vals composite_for_inference(const std::string& name, std::vector<ir::CallParam> params,
                             const Vals& args, const Body& body) {
  params.push_back({kForInference, {}, {}});
  return composite(name, std::move(params), args, body);
}

Vals composite_with_rule(const std::string& name, std::vector<ir::CallParam> params,
                         const Vals& args, const Body& body, const Body& forward,
                         const Body& backward) {
  const auto types = types_of(args);
  const ir::GraphRef g = closed(name, types, body);
  const ir::GraphRef fwd = closed(name + ".fwd", types, forward);
  const auto fwd_types = fwd->result_types();
  const auto out_types = g->result_types();
  std::vector<Type> bwd_types(fwd_types.begin() + static_cast<std::ptrdiff_t>(out_types.size()),
                              fwd_types.end());
  for (Type t : out_types) {
    if (is_differentiable(t.dtype())) bwd_types.push_back(t);
  }
  const ir::GraphRef bwd = closed(name + ".bwd", bwd_types, backward);
  ir::CallAttrs attrs;
  attrs.name = name;
  attrs.kind = ir::CallKind::custom_vjp;
  attrs.params = std::move(params);
  return emit_call(std::move(attrs), args,
                   {ir::make_region(g, {}), ir::make_region(fwd, {}), ir::make_region(bwd, {})},
                   out_types)
      .out;
}

}  // namespace tlaloc::ops
