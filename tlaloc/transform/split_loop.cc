// Splitting loops: the known loop records what the unknown one reads; the unknown loop is a scan of
// known length over that history. No unknown value ever flows through a `while`.
#include <algorithm>
#include <unordered_set>

#include "tlaloc/transform/split.h"

namespace tlaloc::transform {
namespace {

struct Loop {
  GraphRef body;
  DimMap map;  ///< body entry dims in the caller
  Vals inv, init, xs;
  Mask unknown_inv, unknown_init, unknown_xs;
};

/// Known work that reads only known invariants leaves the loop, so its results are never stacked.
void hoist(Loop& l, const std::vector<std::pair<Symbol, std::int64_t>>& ragged) {
  const Graph& g = *l.body;
  const std::size_t ni = l.inv.size();
  std::vector<bool> outside(g.value_count());
  for (std::size_t k = 0; k < ni; ++k) outside[k] = !l.unknown_inv[k];
  std::vector<bool> moved(g.node_count());
  std::unordered_set<std::uint32_t> local;
  for (const auto& [s, k] : ragged) local.insert(s.id());
  bool any_moved = false;
  auto mentions_local = [&](const Node& n) {
    bool found = false;
    auto look = [&](Dim d) {
      found = found || d.mentions([&](Symbol s) { return local.contains(s.id()); });
    };
    if (n.attr() && n.attr()->has_dims()) n.attr()->each_dim(look);
    for (Type t : n.result_types()) std::ranges::for_each(t.shape(), look);
    return found;
  };
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const Node n = g.node(i);
    for (Symbol s : n.bound()) local.insert(s.id());
    bool can = n.regions().empty() && !n.operands().empty() && !n.op().traits.ordered;
    for (ValueId v : n.operands()) can = can && outside[v];
    if (!can || mentions_local(n)) continue;
    moved[i] = any_moved = true;
    for (std::size_t k = 0; k < n.result_count(); ++k) outside[n.result(k)] = true;
  }
  if (!any_moved) return;

  ir::Copier before(g);
  before.dims = l.map;
  std::copy(l.inv.begin(), l.inv.end(), before.env.begin());
  std::vector<bool> read(g.value_count());
  for (ValueId v : g.results()) read[v] = true;
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const Node n = g.node(i);
    if (moved[i]) {
      before.copy(n);
      continue;
    }
    for (ValueId v : n.operands()) read[v] = true;
  }
  std::vector<ValueId> added;
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    if (!moved[i]) continue;
    for (std::size_t k = 0; k < g.node(i).result_count(); ++k) {
      if (read[g.node(i).result(k)]) added.push_back(g.node(i).result(k));
    }
  }
  Builder b(g.name());
  ir::Copier body(g);
  for (std::size_t k = 0; k < ni; ++k) body.declare(k);
  for (ValueId v : added) body.env[v] = b.param(g.type(v));
  for (std::size_t k = ni; k < g.param_count(); ++k) body.declare(k);
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    if (!moved[i]) body.copy(g.node(i));
  }
  body.copy_constraints();
  // Entry dims that only the hoisted work mentioned are gone from the body; the map keeps them.
  l.body = b.build(body.results());
  for (ValueId v : added) {
    l.inv.push_back(before.env[v]);
    l.unknown_inv.push_back(false);
  }
}

}  // namespace

Vals split_loop(Context& ctx, const Node& n, const Vals& x, const Mask& unknown, DimMap& dims,
                const Policy& policy) {
  const bool is_while = n.region_kind() == RegionKind::loop;
  const auto ni0 =
      static_cast<std::size_t>(is_while ? n.as<WhileAttrs>().n_inv : n.as<ScanAttrs>().n_inv);
  const auto nc =
      static_cast<std::size_t>(is_while ? n.as<WhileAttrs>().n_carry : n.as<ScanAttrs>().n_carry);
  const std::vector<Append> append =
      is_while ? n.as<WhileAttrs>().append : n.as<ScanAttrs>().append;
  const std::size_t ny = append.size(), nx = x.size() - ni0 - nc;
  std::vector<bool> xrag = is_while ? std::vector<bool>() : n.as<ScanAttrs>().xrag;
  const auto ragged = ragged_symbols(n);

  Loop l{n.regions().back().graph,   region_map(n.regions().back(), dims),
         slice_of(x, 0, ni0),        slice_of(x, ni0, nc),
         slice_of(x, ni0 + nc, nx),  slice_of(unknown, 0, ni0),
         slice_of(unknown, ni0, nc), slice_of(unknown, ni0 + nc, nx)};
  hoist(l, ragged);
  const std::size_t ni = l.inv.size();
  const Mask &ui = l.unknown_inv, &uxs = l.unknown_xs;
  Mask uc = l.unknown_init;
  const Graph& body = *l.body;

  SplitPlace place;
  place.loop_body = true;
  place.invariants = ni;
  for (const auto& [s, k] : ragged) place.local.push_back(s);
  // A body-bound entry dim and the flat length of the xs that it cuts.
  std::vector<std::pair<Dim, Dim>> flat_of;
  for (std::size_t k = 0; k < nx; ++k) {
    const Type p = body.type(static_cast<ValueId>(ni + nc + k));
    if (k < xrag.size() && xrag[k]) flat_of.emplace_back(p.dim(0), l.xs[k].dim(0));
  }

  const Split* sp = nullptr;
  for (;;) {  // the fixpoint of unknown carries
    sp = &split_graph(ctx, l.body, join(ui, uc, uxs), policy, join(uc, Mask(ny, false)), place);
    const Mask out_c = slice_of(sp->out_unknown, 0, nc);
    if (out_c == uc) break;
    uc = either(uc, out_c);
  }
  const Mask uy = slice_of(sp->out_unknown, nc, ny);
  const Mask known_mask = negated(join(ui, uc, uxs));
  const std::size_t nkc = nc - count(uc), nky = ny - count(uy);
  std::vector<std::size_t> known_index;  // body params of the known part
  std::vector<std::size_t> known_pos(known_mask.size());
  for (std::size_t i = 0; i < known_mask.size(); ++i) {
    if (!known_mask[i]) continue;
    known_pos[i] = known_index.size();
    known_index.push_back(i);
  }
  std::vector<std::size_t> carry_residuals;  // carries recorded as they are before the update
  for (const Residual& r : sp->residuals) {
    if (r.is_param && r.index >= ni && r.index < ni + nc) carry_residuals.push_back(r.index);
  }

  // ---- the known loop: its own results, residuals, recorded carries, lengths of body-bound dims
  // ----
  GraphRef known_body;
  std::vector<Append> known_append;
  std::vector<bool> residual_flat;
  std::size_t n_res = 0, n_lengths = 0;
  {
    Builder b(body.name());
    Vals params;
    for (Type t : sp->known->param_types()) params.push_back(b.param(t));
    const std::vector<Dim> entry(sp->known->dims().begin(), sp->known->dims().end());
    const ir::Inlined in = inline_graph(*sp->known, params, entry);
    const auto result_dims = substitute(sp->known->result_dims(), in.dims);
    std::unordered_set<std::uint32_t> local;
    for (Dim d : result_dims) d.each_symbol([&](Symbol s) { local.insert(s.id()); });
    for (const auto& [s, k] : ragged) local.insert(s.id());
    for (std::size_t k = 0; k < ny; ++k) {
      if (!uy[k]) known_append.push_back(substitute({append[k]}, dims)[0]);
    }
    Vals results = in.results;
    n_res = results.size() - nkc - nky;
    for (std::size_t i = 0; i < n_res; ++i) {
      const Val v = results[nkc + nky + i];
      const bool flat =
          v.rank() > 0 && v.dim(0).mentions([&](Symbol s) { return local.contains(s.id()); });
      residual_flat.push_back(flat);
      Append a{flat, std::nullopt};
      for (const auto& [d, length] : flat_of) {
        if (flat && d == v.dim(0)) a.length = length;
      }
      known_append.push_back(a);
    }
    for (std::size_t i : carry_residuals) {
      results.push_back(params[known_pos[i]]);
      known_append.push_back({});
    }
    for (Dim d : result_dims) {
      results.push_back(ops::dim_value(d));
      known_append.push_back({});
    }
    n_lengths = result_dims.size();
    Builder::Close close;
    close.params = params;
    known_body = b.build(results, std::move(close));
  }
  const Vals all = join(l.inv, l.init, l.xs);
  Vals known_args;
  for (std::size_t i : known_index) known_args.push_back(all[i]);
  const std::size_t nki = ni - count(ui);
  const Vals k_inv = slice_of(known_args, 0, nki), k_init = slice_of(known_args, nki, nkc),
             k_xs = slice_of(known_args, nki + nkc, known_args.size() - nki - nkc);
  Builder::NodeResult known;
  Dim length;
  if (is_while) {
    const Region& cond = n.region(0);
    const Mask cond_reads = used_params(*cond.graph);
    std::vector<ParamSpec> params;
    for (std::size_t i : known_index) {
      if (i < ni0)
        params.push_back({static_cast<std::uint32_t>(i), {}});
      else if (i < ni)
        params.push_back({ir::kNoNode, body.type(static_cast<ValueId>(i))});
      else
        params.push_back({static_cast<std::uint32_t>(i - ni + ni0), {}});
    }
    for (std::size_t i = 0; i < ni0 + nc; ++i) {
      const bool is_unknown = i < ni0 ? ui[i] : uc[i - ni0];
      if (is_unknown && cond_reads[i]) {
        refuse("TL-GRAD-005", n.op(), "the loop condition depends on a value that is not known yet",
               "compute the condition from values that carry no tangent", n.origin());
      }
    }
    known = emit_while({k_inv, k_init, with_signature(*cond.graph, params, results_of(*cond.graph)),
                        known_body, region_map(cond, dims), l.map, known_append,
                        n.as<WhileAttrs>().max_trips});
    length = Dim(known.bound[0]);
    dims.set(n.bound()[0], known.bound[0]);
  } else {
    const ScanAttrs& a = n.as<ScanAttrs>();
    length = a.length.substitute(dims);
    auto kept_ragged = only_in(ragged, *known_body);
    std::vector<bool> k_xrag;
    for (std::size_t k = 0; k < nx; ++k) {
      if (!uxs[k]) k_xrag.push_back(xrag[k]);
    }
    for (auto& [s, k] : kept_ragged) {
      k = static_cast<std::int64_t>(count(negated(slice_of(uxs, 0, static_cast<std::size_t>(k)))));
    }
    known = emit_scan({k_inv, k_init, k_xs, known_body, l.map, length, a.reverse, kept_ragged,
                       k_xrag, known_append});
  }
  // Flat lengths of the loop's own appended outputs.
  for (std::size_t k = 0, q = 0; k < ny; ++k) {
    if (uy[k]) continue;
    const std::size_t at = nkc + q++;
    if (append[k].flat && !append[k].length) {
      dims.set(*n.result_types()[nc + k].dim(0).as_symbol(), known.out[at].dim(0));
    }
  }
  const std::size_t base = nkc + nky;
  auto recorded_carry = [&](std::size_t i) {
    const auto at = std::ranges::find(carry_residuals, i) - carry_residuals.begin();
    return known.out[base + n_res + static_cast<std::size_t>(at)];
  };

  // ---- the unknown loop: a scan of known length over the history ----
  const Graph& u = *sp->unknown;
  std::vector<ParamSpec> inv_params, carry_params, xs_params;
  ir::ScanParts scan;
  std::vector<std::int64_t> at_x(nx, -1);  // where a ragged xs' lengths stand among the new xs
  for (std::size_t p = 0; p < sp->residuals.size(); ++p) {
    const Residual& r = sp->residuals[p];
    const ParamSpec spec{static_cast<std::uint32_t>(p), {}};
    if (r.is_param && r.index < ni) {
      inv_params.push_back(spec);
      scan.inv.push_back(l.inv[r.index]);
      continue;
    }
    xs_params.push_back(spec);
    if (!r.is_param) {
      scan.xs.push_back(known.out[base + r.index]);
      scan.xrag.push_back(residual_flat[r.index]);
    } else if (r.index < ni + nc) {
      scan.xs.push_back(recorded_carry(r.index));
      scan.xrag.push_back(false);
    } else {
      const std::size_t k = r.index - ni - nc;
      at_x[k] = static_cast<std::int64_t>(scan.xs.size());
      scan.xs.push_back(l.xs[k]);
      scan.xrag.push_back(xrag[k]);
    }
  }
  std::uint32_t next = static_cast<std::uint32_t>(sp->residuals.size());
  for (std::size_t k = 0; k < ni; ++k) {
    if (ui[k]) inv_params.push_back({next++, {}}), scan.inv.push_back(l.inv[k]);
  }
  for (std::size_t k = 0; k < nc; ++k) {
    if (uc[k]) carry_params.push_back({next++, {}}), scan.init.push_back(l.init[k]);
  }
  for (std::size_t k = 0; k < nx; ++k) {
    if (!uxs[k]) continue;
    xs_params.push_back({next++, {}});
    scan.xs.push_back(l.xs[k]);
    scan.xrag.push_back(xrag[k]);
  }
  const auto reads_dim = [&](Symbol s) { return std::ranges::find(u.dims(), s) != u.dims().end(); };
  auto add_lengths = [&](Symbol s, Val lengths) {
    scan.ragged.emplace_back(s, static_cast<std::int64_t>(scan.xs.size()));
    xs_params.push_back({ir::kNoNode, Type::scalar(DType::i64)});
    scan.xs.push_back(lengths);
    scan.xrag.push_back(false);
  };
  for (const auto& [s, k] : ragged) {
    if (!reads_dim(s)) continue;
    const auto i = static_cast<std::size_t>(k);
    if (at_x[i] >= 0)
      scan.ragged.emplace_back(s, at_x[i]);
    else
      add_lengths(s, l.xs[i]);
  }
  for (std::size_t q = 0; q < n_lengths; ++q) {
    add_lengths(sp->res_dims[q], known.out[base + n_res + carry_residuals.size() + q]);
  }
  scan.body = with_signature(u, join(inv_params, carry_params, xs_params), results_of(u));
  scan.ragged = only_in(scan.ragged, *scan.body);
  scan.map = l.map;
  scan.length = length;
  scan.reverse = !is_while && n.as<ScanAttrs>().reverse;
  for (std::size_t k = 0; k < ny; ++k) {
    if (!uy[k]) continue;
    Append a{append[k].flat, std::nullopt};
    if (a.flat) a.length = n.result_types()[nc + k].dim(0).substitute(dims);
    scan.append.push_back(a);
  }
  const Vals late = emit_scan(std::move(scan)).out;

  Vals r;
  std::size_t k0 = 0, k1 = 0;
  for (bool c : uc) r.push_back(c ? late[k1++] : known.out[k0++]);
  for (bool y : uy) r.push_back(y ? late[k1++] : known.out[k0++]);
  if (is_while) r.push_back(known.out.back());
  return r;
}

}  // namespace tlaloc::transform
