#include "tlaloc/transform/api.h"

#include <algorithm>
#include <numeric>

#include "tlaloc/transform/batch.h"
#include "tlaloc/transform/context.h"
#include "tlaloc/transform/dce.h"
#include "tlaloc/transform/jvp.h"
#include "tlaloc/transform/split.h"
#include "tlaloc/transform/transpose.h"

namespace tlaloc::transform {
namespace {

thread_local int mapped_depth = 0;

Policy resolved(Policy p) {
  if (p.nested == Policy::Nested::automatic && mapped()) p.nested = Policy::Nested::recompute;
  return p;
}

std::vector<Dim> own_dims(const Graph& g) { return {g.dims().begin(), g.dims().end()}; }

Vals declare_params(Builder& b, const Graph& g) {
  Vals r;
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    r.push_back(b.param(g.type(static_cast<ValueId>(k)), g.param_label(k)));
  }
  return r;
}
std::vector<ir::Label> result_labels(const Graph& g) {
  std::vector<ir::Label> r;
  for (std::size_t k = 0; k < g.results().size(); ++k) r.push_back(g.result_label(k));
  return r;
}

/// The jvp of g, cut into what depends on the tangents and what does not.
struct Parts {
  const Split* split;
  std::size_t n_active;
};
Parts split_jvp(Context& ctx, const GraphRef& g, const Mask& active, const Policy& policy) {
  const Mask results = differentiable_results(*g);
  const Masked& j = jvp_graph(ctx, g, active, results);
  const std::size_t n_active = count(active);
  Mask force(g->results().size(), false);
  force.insert(force.end(), count(results), true);
  return {&split_graph(ctx, j.graph, join(Mask(g->param_count(), false), Mask(n_active, true)),
                       resolved(policy), force, {}),
          n_active};
}
Mask linear_params(const Parts& p) {
  return join(Mask(p.split->residuals.size(), false), Mask(p.n_active, true));
}
const Masked& transpose_parts(Context& ctx, const Parts& p) {
  return transpose_graph(ctx, p.split->unknown, linear_params(p),
                         Mask(p.split->unknown->results().size(), true), Mask(p.n_active, true),
                         {});
}

/// Emits the forward part and gathers the residuals, in a builder whose params are `params`.
struct Forward {
  Vals results, residuals;
  DimMap dims;  ///< res_dims of the split in terms of the builder
};
Forward emit_forward(const Split& s, std::size_t n_results, const Vals& params) {
  const ir::Inlined in = inline_graph(*s.known, params, own_dims(*s.known));
  Forward f;
  f.results = slice_of(in.results, 0, n_results);
  for (const Residual& r : s.residuals) {
    f.residuals.push_back(r.is_param ? params[r.index] : in.results[n_results + r.index]);
  }
  const auto dims = substitute(s.known->result_dims(), in.dims);
  const std::size_t first = dims.size() - s.res_dims.size();
  for (std::size_t k = 0; k < s.res_dims.size(); ++k) f.dims.set(s.res_dims[k], dims[first + k]);
  return f;
}

}  // namespace

MappedScope::MappedScope() { ++mapped_depth; }
MappedScope::~MappedScope() { --mapped_depth; }
bool mapped() { return mapped_depth > 0; }

Mask differentiable_params(const Graph& g) {
  Mask m;
  for (Type t : g.param_types()) m.push_back(is_differentiable(t.dtype()) && !t.encoding());
  return m;
}
Mask differentiable_results(const Graph& g) {
  Mask m;
  for (Type t : g.result_types()) m.push_back(is_differentiable(t.dtype()) && !t.encoding());
  return m;
}

GraphRef jvp(const GraphRef& g, const Mask& active) {
  Context ctx;
  return jvp_graph(ctx, g, active, differentiable_results(*g)).graph;
}

GraphRef vjp(const GraphRef& g, const Mask& active, const Policy& policy) {
  Context ctx;
  const Parts p = split_jvp(ctx, g, active, policy);
  Builder b(g->name());
  const Vals params = declare_params(b, *g);
  Vals cts;
  const Mask diff = differentiable_results(*g);
  for (std::size_t k = 0; k < diff.size(); ++k) {
    if (diff[k]) cts.push_back(b.param(g->type(g->results()[k])));
  }
  const Forward f = emit_forward(*p.split, g->results().size(), params);
  const Vals back =
      transpose_into(ctx, p.split->unknown, linear_params(p), f.residuals, f.dims, cts);
  return dce_graph(ctx, b.build(join(f.results, back), {.result_labels = result_labels(*g)}));
}

GraphRef value_and_grad(const GraphRef& g, const Mask& active, const Policy& policy) {
  const Type loss = g->results().empty() ? Type() : g->type(g->results()[0]);
  if (!loss || loss.rank() != 0 || !is_differentiable(loss.dtype())) {
    throw UserError(
        {"TL-GRAD-001",
         "grad",
         "the loss is not a floating scalar" + (loss ? ": " + loss.to_string() : std::string()),
         "reduce it, for example with mean",
         {}});
  }
  Context ctx;
  const Parts p = split_jvp(ctx, g, active, policy);
  Builder b(g->name());
  const Vals params = declare_params(b, *g);
  const Forward f = emit_forward(*p.split, g->results().size(), params);
  Vals cts(p.split->unknown->results().size());
  cts[0] = ops::ones(loss);  // only the loss has a cotangent
  const Vals back =
      transpose_into(ctx, p.split->unknown, linear_params(p), f.residuals, f.dims, cts);
  return dce_graph(ctx, b.build(join(f.results, back), {.result_labels = result_labels(*g)}));
}

Linearized linearize(const GraphRef& g, const Mask& active, const Policy& policy) {
  Context ctx;
  const Parts p = split_jvp(ctx, g, active, policy);
  Linearized r;
  r.residual_count = p.split->residuals.size();
  r.tangent = p.split->unknown;
  r.cotangent = transpose_parts(ctx, p).graph;
  Builder b(g->name());
  const Vals params = declare_params(b, *g);
  const Forward f = emit_forward(*p.split, g->results().size(), params);
  r.residual_dims = p.split->res_dims;
  Builder::Close close;
  close.result_labels = result_labels(*g);
  for (Symbol s : p.split->res_dims) close.result_dims.push_back(f.dims.get(s));
  r.forward = b.build(join(f.results, f.residuals), std::move(close));
  return r;
}

GraphRef vmap(const GraphRef& g, const std::vector<std::optional<int>>& in_axes, Dim lanes) {
  internal_check(in_axes.size() == g->param_count(), "vmap: one axis per param");
  Context ctx;
  BatchRequest q{{}, lanes, false, {}, Mask(g->results().size(), true), false};
  for (const auto& axis : in_axes) q.in.push_back(axis.has_value());
  const GraphRef inner = batch_graph(ctx, g, q).graph;
  Builder b(g->name());
  Vals args;
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    const Type t = g->type(static_cast<ValueId>(k));
    if (!in_axes[k]) {
      args.push_back(b.param(t, g->param_label(k)));
      continue;
    }
    const int axis = *in_axes[k];
    if (axis < 0 || axis > t.rank()) {
      throw UserError({"TL-AXIS-001",
                       "vmap",
                       "the mapped axis " + std::to_string(axis) + " is out of range for " +
                           t.to_string() + " with one more axis",
                       "",
                       {}});
    }
    std::vector<Dim> shape(t.shape().begin(), t.shape().end());
    shape.insert(shape.begin() + axis, lanes);
    ir::Label label = g->param_label(k);
    label.axes.clear();
    const Val v = b.param(Type::get(t.dtype(), shape, t.encoding()), std::move(label));
    if (axis == 0) {
      args.push_back(v);
      continue;
    }
    std::vector<std::int64_t> front(shape.size());
    std::iota(front.begin(), front.end(), 0);
    std::rotate(front.begin(), front.begin() + axis, front.begin() + axis + 1);
    args.push_back(ops::transpose(v, front));
  }
  const Vals out = inline_graph(*inner, args, own_dims(*inner)).results;
  std::vector<ir::Label> labels = result_labels(*g);
  for (ir::Label& l : labels) {
    if (!l.axes.empty()) l.axes.insert(l.axes.begin(), "");  // the lanes have no name here
  }
  return dce_graph(
      ctx, b.build(slice_of(out, 0, g->results().size()), {.result_labels = std::move(labels)}));
}

GraphRef dce(const GraphRef& g) {
  Context ctx;
  return dce_graph(ctx, g);
}

GraphRef linear_transpose(const GraphRef& g, const Mask& linear) {
  Context ctx;
  return transpose_graph(ctx, g, linear, differentiable_results(*g), Mask(count(linear), true), {})
      .graph;
}

}  // namespace tlaloc::transform
