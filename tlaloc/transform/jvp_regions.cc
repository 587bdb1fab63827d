#include <algorithm>
#include <string_view>

#include "tlaloc/ops/composite.h"
#include "tlaloc/ops/effects.h"
#include "tlaloc/ops/val_system.h"
#include "tlaloc/transform/jvp.h"
#include "tlaloc/transform/transpose.h"

namespace tlaloc::transform {
namespace {

Val or_zeros(Val tangent, Val like) { return tangent ? tangent : ops::zeros_like(like); }

/// Declared derivative (x…, dx…) -> (y…, dy…), over the differentiable params and results.
PrimalTangent jvp_custom_jvp(const Node& n, const Vals& x, const Vals& t, const DimMap& dims) {
  const Region& rule = n.region(1);
  const DimMap map = region_map(rule, dims);
  Vals args = x;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (is_differentiable(x[k].dtype())) args.push_back(or_zeros(t[k], x[k]));
  }
  const CallAttrs attrs = plain_call(n.as<CallAttrs>(), ".jvp");
  const auto types = substitute(rule.graph->result_types(), map);
  const Vals out = emit_call(attrs, args, {make_region(rule.graph, map)}, types).out;
  PrimalTangent r;
  r.primal = slice_of(out, 0, n.result_count());
  std::size_t next = n.result_count();
  for (Val y : r.primal) r.tangent.push_back(is_differentiable(y.dtype()) ? out[next++] : Val{});
  return r;
}

/// What forward mode does with a backward rule that is not linear: whoever evaluates it is told.
GraphRef no_forward_rule(const Graph& bwd, std::size_t n_residuals, const std::string& name) {
  Builder b(bwd.name());
  Builder::Close close;
  close.dims.assign(bwd.dims().begin(), bwd.dims().end());
  Vals params;
  for (std::size_t k = 0; k < n_residuals; ++k) {
    params.push_back(b.param(bwd.type(static_cast<ValueId>(k))));
  }
  for (ValueId v : bwd.results()) params.push_back(b.param(bwd.type(v)));
  std::vector<Type> results;
  for (std::size_t k = n_residuals; k < bwd.param_count(); ++k) {
    results.push_back(bwd.type(static_cast<ValueId>(k)));
  }
  return b.build(ops::custom_call(ops::kNoForwardRule, name, params, std::move(results)),
                 std::move(close));
}
/// The transpose of bwd. A rule may be anything in reverse mode: clip what it is given, or solve
/// for it in a loop.
GraphRef forward_rule(Context& ctx, const GraphRef& bwd, std::size_t n_residuals,
                      const std::string& name) {
  Mask linear(bwd->param_count(), true);
  std::fill_n(linear.begin(), n_residuals, false);
  try {
    return transpose_graph(ctx, bwd, linear, Mask(bwd->results().size(), true),
                           Mask(bwd->param_count() - n_residuals, true), {})
        .graph;
  } catch (const UserError& e) {
    if (e.info().code != std::string_view("TL-GRAD-002")) throw;
    return no_forward_rule(*bwd, n_residuals, name);
  }
}

/// fwd gives the results and residuals; the tangent is a linear call that carries bwd, so that its
/// transpose is a call of bwd again, which kernels can claim.
PrimalTangent jvp_custom_vjp(Context& ctx, const Node& n, const Vals& x, const Vals& t,
                             const DimMap& dims) {
  const Region &fwd = n.region(1), &bwd = n.region(2);
  const DimMap fwd_map = region_map(fwd, dims), bwd_map = region_map(bwd, dims);
  const CallAttrs& base = n.as<CallAttrs>();
  const std::size_t n_out = n.result_count();
  CallAttrs attrs = plain_call(base, ".fwd");
  DimMap map = fwd_map;
  std::vector<Symbol> bound;
  for (Dim d : fwd.graph->result_dims()) {
    bound.push_back(Symbol::fresh("R"));
    if (auto s = d.as_symbol()) map.set(*s, bound.back());
  }
  const auto fwd_types = substitute(fwd.graph->result_types(), map);
  const Vals out = emit_call(attrs, x, {make_region(fwd.graph, fwd_map)}, fwd_types, bound).out;
  PrimalTangent r;
  r.primal = slice_of(out, 0, n_out);
  const Vals residuals = slice_of(out, n_out, out.size() - n_out);

  // bwd: (residuals, ct of the differentiable results) -> ct of the differentiable params.
  std::vector<Type> tangent_types;
  for (Val y : r.primal) {
    if (is_differentiable(y.dtype())) tangent_types.push_back(y.type());
  }
  const GraphRef lin = forward_rule(ctx, bwd.graph, residuals.size(), base.name);
  Vals args = residuals;
  for (std::size_t k = 0; k < x.size(); ++k) {
    if (is_differentiable(x[k].dtype())) args.push_back(or_zeros(t[k], x[k]));
  }
  attrs.kind = CallKind::linear;
  attrs.name = base.name + ".lin";
  attrs.n_residuals = static_cast<std::int64_t>(residuals.size());
  const Vals dy =
      emit_call(attrs, args, {make_region(lin, bwd_map), make_region(bwd.graph, bwd_map)},
                tangent_types)
          .out;
  std::size_t next = 0;
  for (Val y : r.primal) r.tangent.push_back(is_differentiable(y.dtype()) ? dy[next++] : Val{});
  return r;
}

PrimalTangent jvp_branches(Context& ctx, const Node& n, const Vals& x, const Vals& t,
                           DimMap& dims) {
  const bool is_if = n.region_kind() == RegionKind::branch;
  const std::size_t off = is_if ? 1 : 0;
  const Mask active = present(slice_of(t, off, t.size() - off));
  Mask out(n.result_count(), false);
  std::vector<const Masked*> parts;
  for (bool stable = false; !stable;) {  // both branches must produce the same tangents
    stable = true;
    parts.clear();
    Mask next(out.size(), false);
    // A call's derivative graphs are not branches.
    for (std::size_t k = 0; k < (is_if ? 2 : 1); ++k) {
      parts.push_back(&jvp_graph(ctx, n.region(k).graph, active, out));
      next = either(next, parts.back()->out);
    }
    for (const Masked* p : parts) stable = stable && p->out == next;
    stable = stable && next == out;
    out = next;
  }
  DimMap outer = dims;
  std::vector<Symbol> bound = fresh_bound(n.bound(), outer);
  std::vector<Type> types = substitute(n.result_types(), outer);
  types = join(types, pick(types, out));
  std::vector<Region> regions;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    regions.push_back(make_region(parts[k]->graph, region_map(n.region(k), dims)));
  }
  const Vals args =
      join(slice_of(x, off, x.size() - off), present_only(slice_of(t, off, t.size() - off)));
  Builder::NodeResult c;
  if (is_if) {
    const IfAttrs& a = n.as<IfAttrs>();
    c = emit_if(x[0], args, std::move(regions), types, bound,
                join(a.arg_owner, pick(a.arg_owner, active)),
                join(a.out_owner, pick(a.out_owner, out)));
  } else {
    CallAttrs attrs = n.as<CallAttrs>();
    if (attrs.kind == CallKind::linear) attrs = plain_call(attrs, "");
    attrs.name += ".jvp";
    c = emit_call(std::move(attrs), args, std::move(regions), types, bound);
  }
  bind_dims(n.bound(), c.bound, dims);
  PrimalTangent r;
  r.primal = slice_of(c.out, 0, n.result_count());
  std::size_t next = n.result_count();
  for (bool o : out) r.tangent.push_back(o ? c.out[next++] : Val{});
  return r;
}

/// A derivative given by the user says nothing about values that the function captured: one that
/// moves would silently have a zero derivative. The call's param "lifted" counts them, at the end.
void refuse_moving_captures(const Node& n, const Vals& t) {
  for (const ir::CallParam& p : n.as<CallAttrs>().params) {
    if (p.name != "lifted") continue;
    for (std::size_t k = t.size() - static_cast<std::size_t>(p.ints[0]); k < t.size(); ++k) {
      if (!t[k]) continue;
      refuse("TL-CUSTOM-001", n.op(),
             "'" + n.as<CallAttrs>().name + "' has a derivative of its own and captures a value " +
                 "that is being differentiated",
             "pass the value as an argument", n.origin());
    }
  }
}

void refuse_inference(const Node& n) {
  const CallAttrs& attrs = n.as<CallAttrs>();
  if (std::ranges::find(attrs.params, ops::kForInference, &ir::CallParam::name) ==
      attrs.params.end()) {
    return;
  }
  refuse("TL-GRAD-003", n.op(), "'" + attrs.name + "' is for inference and has no derivative",
         "train with the operation that it stands for, or wrap it in stop_gradient", n.origin());
}

PrimalTangent jvp_call(Context& ctx, const Node& n, const Vals& x, const Vals& t, DimMap& dims) {
  const CallAttrs& attrs = n.as<CallAttrs>();
  refuse_inference(n);
  if (attrs.kind == CallKind::custom_jvp || attrs.kind == CallKind::custom_vjp) {
    refuse_moving_captures(n, t);
  }
  if (attrs.kind == CallKind::custom_jvp) return jvp_custom_jvp(n, x, t, dims);
  if (attrs.kind == CallKind::custom_vjp) return jvp_custom_vjp(ctx, n, x, t, dims);
  if (attrs.kind == CallKind::linear) {
    bool residual_moves = false;
    for (std::size_t k = 0; k < static_cast<std::size_t>(attrs.n_residuals); ++k) {
      residual_moves = residual_moves || t[k];
    }
    if (!residual_moves) {  // linear in what moves: its tangent is itself
      Vals moved = x;
      for (std::size_t k = static_cast<std::size_t>(attrs.n_residuals); k < x.size(); ++k) {
        moved[k] = or_zeros(t[k], x[k]);
      }
      DimMap copy = dims;
      return {copy_node(n, x, dims), copy_node(n, moved, copy)};
    }
    // The region alone: bwd is the transpose of what no longer stands there.
  }
  return jvp_branches(ctx, n, x, t, dims);
}

PrimalTangent jvp_manual(Context& ctx, const Node& n, const Vals& x, const Vals& t,
                         const DimMap& dims) {
  const Mask active = present(t);
  const Masked& part = jvp_graph(ctx, n.region(0).graph, active, {});
  ManualAttrs attrs = n.as<ManualAttrs>();
  attrs.in = join(attrs.in, pick(attrs.in, active));
  attrs.out = join(attrs.out, pick(attrs.out, part.out));
  const Vals out = emit_manual(std::move(attrs), join(x, present_only(t)), part.graph,
                               region_map(n.region(0), dims));
  PrimalTangent r;
  r.primal = slice_of(out, 0, n.result_count());
  std::size_t next = n.result_count();
  for (bool moves : part.out) r.tangent.push_back(moves ? out[next++] : Val{});
  return r;
}

PrimalTangent jvp_loop(Context& ctx, const Node& n, const Vals& x, const Vals& t, DimMap& dims) {
  const bool is_while = n.region_kind() == RegionKind::loop;
  const Region& body_region = n.regions().back();
  const GraphRef& body = body_region.graph;
  std::size_t ni, nc;
  std::vector<Append> append;
  if (is_while) {
    const WhileAttrs& a = n.as<WhileAttrs>();
    ni = static_cast<std::size_t>(a.n_inv), nc = static_cast<std::size_t>(a.n_carry);
    append = a.append;
  } else {
    const ScanAttrs& a = n.as<ScanAttrs>();
    ni = static_cast<std::size_t>(a.n_inv), nc = static_cast<std::size_t>(a.n_carry);
    append = a.append;
  }
  append = substitute(append, dims);
  const std::size_t ny = append.size(), nx = x.size() - ni - nc;
  const Mask moving = present(t);
  const Mask act_inv = slice_of(moving, 0, ni), act_x = slice_of(moving, ni + nc, nx);
  Mask act_c = slice_of(moving, ni, nc);
  const Masked* j = nullptr;
  for (;;) {  // the fixpoint of active carries
    j = &jvp_graph(ctx, body, join(act_inv, act_c, act_x), join(act_c, Mask(ny, false)));
    const Mask out_c = slice_of(j->out, 0, nc);
    if (out_c == act_c) break;
    act_c = either(act_c, out_c);
  }
  const Mask act_y = slice_of(j->out, nc, ny);

  // Body params [inv, carry, xs, d_inv, d_carry, d_xs] -> [inv, d_inv, carry, d_carry, xs, d_xs].
  const std::size_t np = ni + nc + nx;
  const auto params = join(same_params(0, ni), same_params(np, count(act_inv)), same_params(ni, nc),
                           same_params(np + count(act_inv), count(act_c)), same_params(ni + nc, nx),
                           same_params(np + count(act_inv) + count(act_c), count(act_x)));
  const auto r = results_of(*j->graph);
  const std::size_t at = nc + ny;
  const auto results = join(slice_of(r, 0, nc), slice_of(r, at, count(act_c)), slice_of(r, nc, ny),
                            slice_of(r, at + count(act_c), count(act_y)));
  GraphRef body2 = with_signature(*j->graph, params, results);

  Vals init = slice_of(x, ni, nc);
  for (std::size_t k = 0; k < nc; ++k) {
    if (act_c[k]) init.push_back(or_zeros(t[ni + k], x[ni + k]));
  }
  const Vals inv = join(slice_of(x, 0, ni), pick(slice_of(t, 0, ni), act_inv));
  append = join(append, pick(append, act_y));
  const DimMap map = region_map(body_region, dims);
  Builder::NodeResult c;
  if (is_while) {
    const Region& cond = n.region(0);
    std::vector<ParamSpec> cond_params = same_params(0, ni);
    auto dead = [&](std::size_t from, const Mask& mask) {
      for (std::size_t k = 0; k < mask.size(); ++k) {
        if (mask[k])
          cond_params.push_back({ir::kNoNode, cond.graph->type(static_cast<ValueId>(from + k))});
      }
    };
    dead(0, act_inv);
    cond_params = join(cond_params, same_params(ni, nc));
    dead(ni, act_c);
    c = emit_while({inv, init, with_signature(*cond.graph, cond_params, results_of(*cond.graph)),
                    std::move(body2), region_map(cond, dims), map, append,
                    n.as<WhileAttrs>().max_trips});
  } else {
    const ScanAttrs& a = n.as<ScanAttrs>();
    const auto ragged = only_in(ragged_symbols(n), *body2);
    c = emit_scan({inv, init, join(slice_of(x, ni + nc, nx), pick(slice_of(t, ni + nc, nx), act_x)),
                   std::move(body2), map, a.length.substitute(dims), a.reverse, ragged,
                   join(a.xrag, pick(a.xrag, act_x)), append});
  }
  bind_dims(n.bound(), c.bound, dims);
  // [carry, d_carry, ys, d_ys, trips] -> results and their tangents.
  const std::size_t k = nc + count(act_c);
  PrimalTangent out;
  out.primal = join(slice_of(c.out, 0, nc), slice_of(c.out, k, ny));
  std::size_t next = nc;
  for (bool a : act_c) out.tangent.push_back(a ? c.out[next++] : Val{});
  next = k + ny;
  for (bool a : act_y) out.tangent.push_back(a ? c.out[next++] : Val{});
  if (is_while) {
    out.primal.push_back(c.out.back());
    out.tangent.push_back({});
  }
  return out;
}

}  // namespace

PrimalTangent jvp_region(Context& ctx, const Node& n, const Vals& x, const Vals& t, DimMap& dims) {
  switch (n.region_kind()) {
    case RegionKind::branch:
      return jvp_branches(ctx, n, x, t, dims);
    case RegionKind::call:
      return jvp_call(ctx, n, x, t, dims);
    case RegionKind::manual:
      return jvp_manual(ctx, n, x, t, dims);
    default:
      return jvp_loop(ctx, n, x, t, dims);
  }
}

}  // namespace tlaloc::transform
