#include <algorithm>

#include "tlaloc/transform/transpose.h"

namespace tlaloc::transform {
namespace {

/// lin: (res…, dx…) -> dy…; its transpose is a call of the bwd that it carries.
void transpose_declared(const TransposeSite& s) {
  const CallAttrs& a = s.node.as<CallAttrs>();
  const auto n_res = static_cast<std::size_t>(a.n_residuals);
  const Region& bwd = s.node.region(1);
  const DimMap map = region_map(bwd, s.dims);
  Vals args = slice_of(s.x, 0, n_res);
  for (std::size_t k = 0; k < s.ct.size(); ++k) {
    args.push_back(s.ct[k] ? s.ct[k] : ops::zeros(s.node.result_types()[k].substitute(s.dims)));
  }
  CallAttrs attrs = plain_call(a, "");
  if (attrs.name.ends_with(".lin")) attrs.name.resize(attrs.name.size() - 4);
  attrs.name += ".bwd";
  const auto types = substitute(bwd.graph->result_types(), map);
  const Vals out = emit_call(attrs, args, {make_region(bwd.graph, map)}, types).out;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (s.linear[n_res + k]) s.put(n_res + k, out[k]);
  }
}

void transpose_branches(const TransposeSite& s) {
  const Node& n = s.node;
  const bool is_if = n.region_kind() == RegionKind::branch;
  const std::size_t off = is_if ? 1 : 0;
  const std::size_t branches = is_if ? 2 : 1;
  internal_check(!is_if || !s.linear[0], "a linear predicate");
  const Mask linear = slice_of(s.linear, off, s.linear.size() - off);
  const Mask ct_mask = present(s.ct);
  Mask out(count(linear), false);
  std::vector<const Masked*> parts;
  for (;;) {  // the union of what the branches give
    parts.clear();
    Mask next(out.size(), false);
    for (std::size_t k = 0; k < branches; ++k) {
      parts.push_back(&transpose_graph(s.ctx, n.region(k).graph, linear, ct_mask, out, {}));
      next = either(next, parts.back()->out);
    }
    if (next == out) break;
    out = next;
  }
  std::vector<std::size_t> operands;  // region params that are linear
  for (std::size_t k = 0; k < linear.size(); ++k) {
    if (linear[k]) operands.push_back(k);
  }
  // A cotangent that exists already is passed in as the seed, so that updates stay in place.
  Vals taken;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    taken.push_back(out[i] ? s.take(off + operands[i]) : Val{});
  }
  if (any(present(taken))) {
    for (std::size_t k = 0; k < branches; ++k) {
      parts[k] = &transpose_graph(s.ctx, n.region(k).graph, linear, ct_mask, out, present(taken));
    }
  }
  const auto given = pick(operands, out);
  std::vector<Type> types;
  for (std::size_t k : given) {
    types.push_back(n.region(0)
                        .graph->type(static_cast<ValueId>(k))
                        .substitute(region_map(n.region(0), s.dims)));
  }
  Vals args;
  std::vector<std::int64_t> arg_owner, out_owner;
  const std::vector<std::int64_t> ao =
      is_if ? n.as<IfAttrs>().arg_owner : std::vector<std::int64_t>(linear.size(), -1);
  const std::vector<std::int64_t> oo =
      is_if ? n.as<IfAttrs>().out_owner : std::vector<std::int64_t>(s.ct.size(), -1);
  for (std::size_t k = 0; k < linear.size(); ++k) {
    if (!linear[k]) args.push_back(s.x[off + k]), arg_owner.push_back(ao[k]);
  }
  for (std::size_t k = 0; k < s.ct.size(); ++k) {
    if (s.ct[k]) args.push_back(s.ct[k]), arg_owner.push_back(oo[k]);
  }
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (taken[i]) args.push_back(taken[i]), arg_owner.push_back(ao[operands[i]]);
  }
  for (std::size_t k : given) out_owner.push_back(ao[k]);
  std::vector<Region> regions;
  for (std::size_t k = 0; k < branches; ++k) {
    regions.push_back(make_region(parts[k]->graph, region_map(n.region(k), s.dims)));
  }
  Vals results;
  if (is_if) {
    results = emit_if(s.x[0], args, std::move(regions), types, {}, arg_owner, out_owner).out;
  } else {
    results = emit_call(plain_call(n.as<CallAttrs>(), ".t"), args, std::move(regions), types).out;
  }
  for (std::size_t i = 0; i < given.size(); ++i) s.put(off + given[i], results[i]);
}

void transpose_scan(const TransposeSite& s) {
  const Node& n = s.node;
  const ScanAttrs& a = n.as<ScanAttrs>();
  const auto ni = static_cast<std::size_t>(a.n_inv), nc = static_cast<std::size_t>(a.n_carry);
  const std::size_t ny = a.append.size(), nx = s.x.size() - ni - nc;
  const GraphRef& body = n.region(0).graph;
  const Mask lin_inv = slice_of(s.linear, 0, ni), lin_x = slice_of(s.linear, ni + nc, nx);
  // Every carry of a linear scan is linear; one whose start is known just loses its cotangent.
  const Mask lin_body = join(lin_inv, Mask(nc, true), lin_x);
  const std::size_t n_inv = count(lin_inv), n_x = count(lin_x);
  const Mask nonzero = present(s.ct);
  Mask cc = slice_of(nonzero, 0, nc);
  const Mask cy = slice_of(nonzero, nc, ny);
  Mask ii(n_inv, false);
  const Masked* t = nullptr;
  for (;;) {  // the fixpoint of carries and invariants that have a cotangent
    t = &transpose_graph(s.ctx, body, lin_body, join(cc, cy), join(ii, cc, Mask(n_x, false)),
                         join(ii, Mask(nc + n_x, false)));
    const Mask out_i = slice_of(t->out, 0, n_inv), out_c = slice_of(t->out, n_inv, nc);
    if (out_i == ii && out_c == cc) break;
    ii = either(ii, out_i);
    cc = either(cc, out_c);
  }
  const Mask out_x = slice_of(t->out, n_inv + nc, n_x);
  // Body params [inv, xs (nonlinear), ct carries, ct ys, accumulators]
  //   -> [inv, accumulators, ct carries, xs, ct ys].
  const std::size_t k_inv = ni - n_inv, k_x = nx - n_x;
  std::size_t at = 0;
  auto block = [&](std::size_t count) {
    auto r = same_params(at, count);
    at += count;
    return r;
  };
  const auto p_inv = block(k_inv), p_x = block(k_x), p_cc = block(count(cc)),
             p_cy = block(count(cy)), p_ii = block(count(ii));
  ir::ScanParts scan;
  scan.body = with_signature(*t->graph, join(p_inv, p_ii, p_cc, p_x, p_cy), results_of(*t->graph));
  auto zero_of = [&](std::size_t k) {
    return ops::zeros(
        body->type(static_cast<ValueId>(k)).substitute(region_map(n.region(0), s.dims)));
  };
  for (std::size_t k = 0; k < ni; ++k) {
    if (!lin_inv[k]) scan.inv.push_back(s.x[k]);
  }
  std::vector<std::size_t> acc_operands;
  for (std::size_t k = 0, q = 0; k < ni; ++k) {
    if (!lin_inv[k] || !ii[q++]) continue;
    const Val had = s.take(k);
    scan.init.push_back(had ? had : zero_of(k));
    acc_operands.push_back(k);
  }
  for (std::size_t k = 0; k < nc; ++k) {
    if (cc[k]) scan.init.push_back(s.ct[k] ? s.ct[k] : zero_of(ni + k));
  }
  std::vector<std::int64_t> new_x(nx, -1);
  for (std::size_t k = 0; k < nx; ++k) {
    if (lin_x[k]) continue;
    new_x[k] = static_cast<std::int64_t>(scan.xs.size());
    scan.xs.push_back(s.x[ni + nc + k]);
    scan.xrag.push_back(a.xrag[k]);
  }
  for (std::size_t k = 0; k < ny; ++k) {
    if (!cy[k]) continue;
    scan.xs.push_back(s.ct[nc + k]);
    scan.xrag.push_back(a.append[k].flat);
  }
  scan.ragged = only_in(ragged_symbols(n), *scan.body);
  for (auto& [symbol, k] : scan.ragged) k = new_x[static_cast<std::size_t>(k)];
  std::vector<std::size_t> x_operands;
  for (std::size_t k = 0, q = 0; k < nx; ++k) {
    if (!lin_x[k] || !out_x[q++]) continue;
    x_operands.push_back(k);
    Append append{a.xrag[k], std::nullopt};
    if (a.xrag[k]) append.length = s.operand_types[ni + nc + k].dim(0);
    scan.append.push_back(append);
  }
  scan.map = region_map(n.region(0), s.dims);
  scan.length = a.length.substitute(s.dims);
  scan.reverse = !a.reverse;
  const Vals out = emit_scan(std::move(scan)).out;
  std::size_t next = 0;
  for (std::size_t k : acc_operands) s.put(k, out[next++]);
  for (std::size_t k = 0; k < nc; ++k) {
    if (!cc[k]) continue;
    const Val v = out[next++];
    if (s.linear[ni + k]) s.put(ni + k, v);
  }
  for (std::size_t k : x_operands) s.put(ni + nc + k, out[next++]);
}

}  // namespace

void transpose_region(const TransposeSite& s) {
  switch (s.node.region_kind()) {
    case RegionKind::branch:
      return transpose_branches(s);
    case RegionKind::call:
      return s.node.as<CallAttrs>().kind == CallKind::linear ? transpose_declared(s)
                                                             : transpose_branches(s);
    case RegionKind::scan:
      return transpose_scan(s);
    case RegionKind::manual:
      return transpose_manual(s);
    default:
      refuse("TL-GRAD-002", s.node.op(), "a while loop over the values is not linear in them",
             "only linear functions have a transpose", s.node.origin());
  }
}

}  // namespace tlaloc::transform
