#include "tests/transform/derived.h"

#include "tlaloc/base/error.h"
#include "tlaloc/ir/parse.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::testing {
namespace {

/// A graph with g's params (and further ones of the types `more`).
template <class F>
GraphRef around(const GraphRef& g, const std::vector<Type>& more, const F& f) {
  ir::Builder b(g->name());
  Vals params, extra;
  for (Type t : g->param_types()) params.push_back(b.param(t));
  for (Type t : more) extra.push_back(b.param(t));
  const Vals out = f(params, extra);
  return transform::dce(b.build(out));
}
Vals inlined(const GraphRef& g, const Vals& args) {
  const std::vector<Dim> entry(g->dims().begin(), g->dims().end());
  return ir::inline_graph(*g, args, entry).results;
}
std::vector<Type> real_types(const ir::Graph& g) {
  std::vector<Type> r;
  for (Type t : g.param_types()) {
    if (t.dtype() == DType::f64) r.push_back(t);
  }
  return r;
}

}  // namespace

GraphRef checked(GraphRef g) {
  ir::verify(*g);
  const GraphRef again = ir::parse_graph(g->to_string(), ops::find);
  internal_check(same_graph(*g, *again), "a graph's text reads back as another graph");
  return g;
}

GraphRef jvp_of(const GraphRef& g) {
  return checked(transform::jvp(g, transform::differentiable_params(*g)));
}
GraphRef directional(const GraphRef& g) {
  const GraphRef j = jvp_of(g);
  return checked(around(
      j, {}, [&](const Vals& p, const Vals&) { return Vals{inlined(j, p)[g->results().size()]}; }));
}
GraphRef grad_of(const GraphRef& g, const Policy& policy) {
  const GraphRef v =
      checked(transform::value_and_grad(g, transform::differentiable_params(*g), policy));
  return checked(around(v, {}, [&](const Vals& p, const Vals&) {
    const Vals r = inlined(v, p);
    return Vals(r.begin() + static_cast<std::ptrdiff_t>(g->results().size()), r.end());
  }));
}
GraphRef grad_dot(const GraphRef& g, const Policy& policy) {
  const GraphRef gg = grad_of(g, policy);
  return checked(around(g, real_types(*g), [&](const Vals& p, const Vals& u) {
    const Vals r = inlined(gg, p);
    Val s;
    for (std::size_t k = 0; k < r.size(); ++k) {
      const Val t = sum(r[k] * u[k]);
      s = s ? s + t : t;
    }
    return Vals{s};
  }));
}
GraphRef vmap_of(const GraphRef& g, std::optional<std::vector<bool>> mapped) {
  std::vector<std::optional<int>> axes;
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    axes.push_back(!mapped || (*mapped)[k] ? std::optional<int>(0) : std::nullopt);
  }
  return checked(transform::vmap(g, axes, Symbol::fresh("lanes")));
}
GraphRef sum_of(const GraphRef& g) {
  return checked(
      around(g, {}, [&](const Vals& p, const Vals&) { return Vals{sum(inlined(g, p)[0])}; }));
}
GraphRef sum_of_squares(const GraphRef& g) {
  return checked(around(g, {}, [&](const Vals& p, const Vals&) {
    const Val r = inlined(g, p)[0];
    return Vals{sum(r * r)};
  }));
}

std::size_t node_count(const ir::Graph& g) {
  std::size_t n = g.node_count();
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    for (const ir::Region& r : g.node(i).regions()) n += node_count(*r.graph);
  }
  return n;
}

}  // namespace tlaloc::testing
