// Batching of if, call, while and scan.
//
// Over a predicate with lanes an `if` keeps both branches, and every result is a lane select: all
// operands get lanes first (shared ones are broadcast outside), so junk stays in junk lanes and no
// sum over lanes happens before the select.
#include <algorithm>
#include <numeric>

#include "tlaloc/transform/batch.h"

namespace tlaloc::transform {
namespace {

Val any_over(Val p, int from_axis) {
  std::vector<std::int64_t> axes;
  for (int i = from_axis; i < p.rank(); ++i) axes.push_back(i);
  return axes.empty() ? p : ops::reduce_or(p, axes);
}
/// [T, B, …] <-> [B, T, …]: histories stack lanes behind trips.
Val swap_leading(Val v) {
  std::vector<std::int64_t> p(static_cast<std::size_t>(v.rank()));
  std::iota(p.begin(), p.end(), 0);
  std::swap(p[0], p[1]);
  return ops::transpose(v, p);
}

/// Entry dims of the regions that are ragged here; their lengths travel as operands.
struct RaggedEntries {
  std::vector<Symbol> symbols;
  Vals lengths;
};
RaggedEntries ragged_entries(const Batcher& s, const Node& n, const DimMap& dims) {
  RaggedEntries r;
  for (const Region& region : n.regions()) {
    for (std::size_t i = 0; i < region.dims.size(); ++i) {
      if (!region.dims[i]) continue;
      const Symbol entry = region.graph->dims()[i];
      const Val lengths = s.lengths_of(region.dims[i]->substitute(dims));
      if (!lengths || std::ranges::find(r.symbols, entry) != r.symbols.end()) continue;
      r.symbols.push_back(entry);
      r.lengths.push_back(lengths);
    }
  }
  return r;
}
using Slice = std::span<const Mapped>;
Mask batched_of(Slice xs) {
  Mask m;
  for (const Mapped& x : xs) m.push_back(x.batched);
  return m;
}
Vals vals_of(Slice xs) {
  Vals r;
  for (const Mapped& x : xs) r.push_back(x.v);
  return r;
}
/// With lanes those of the mask, which includes those that have them.
Vals lift_where(const Batcher& s, Slice xs, const Mask& mask) {
  Vals r;
  for (std::size_t k = 0; k < xs.size(); ++k) r.push_back(mask[k] ? s.lift(xs[k]) : xs[k].v);
  return r;
}
Vals lift_all(const Batcher& s, Slice xs) { return lift_where(s, xs, Mask(xs.size(), true)); }
MappedVals mapped(const Vals& vs, const Mask& batched) {
  MappedVals r;
  for (std::size_t k = 0; k < vs.size(); ++k) r.push_back({vs[k], batched[k]});
  return r;
}

/// Flat histories under vmap work where all lanes agree on the lengths.
[[noreturn]] void refuse_flat(const Node& n) {
  refuse("TL-VMAP-003", n.op(), "can't map over a flat history whose lengths differ between lanes",
         "differentiate inside vmap, or with nested loops recomputed", n.origin());
}
bool has_flat(const std::vector<Append>& append) {
  return std::ranges::any_of(append, [](const Append& a) { return a.flat; });
}
/// A flat output is concatenated along its own leading axis, so the lanes go behind it.
GraphRef lanes_behind_flat(const GraphRef& body, std::size_t n_carry,
                           const std::vector<Append>& append, const Mask& batched) {
  if (!has_flat(append)) return body;
  Builder b(body->name());
  ir::Copier c(*body);
  c.declare_all();
  for (std::uint32_t i = 0; i < body->node_count(); ++i) c.copy(body->node(i));
  c.copy_constraints();
  Vals results = c.results();
  for (std::size_t k = 0; k < append.size(); ++k) {
    Val& v = results[n_carry + k];
    if (append[k].flat && batched[k]) v = swap_leading(v);
  }
  return b.build(results);
}
/// Binds the flat lengths of a loop's outputs.
void bind_flat(const Node& n, std::size_t n_carry, const std::vector<Append>& append,
               const Vals& out, DimMap& dims) {
  for (std::size_t k = 0; k < append.size(); ++k) {
    if (append[k].flat && !append[k].length) {
      dims.set(*n.result_types()[n_carry + k].dim(0).as_symbol(), out[n_carry + k].dim(0));
    }
  }
}

/// Calls with derivative graphs: every graph is batched with lanes on everything, so that forward
/// and backward stay a pair.
MappedVals batch_declared_call(Batcher& s, const Node& n, Slice x, DimMap& dims) {
  if (!ragged_entries(s, n, dims).symbols.empty()) {
    refuse("TL-VMAP-002", n.op(),
           "a custom rule under vmap reads a size that differs between lanes",
           "pass inputs of one length", n.origin());
  }
  const Vals args = lift_all(s, x);
  std::vector<Region> regions;
  for (const Region& r : n.regions()) {
    BatchRequest q{Mask(r.graph->param_count(), true),    s.lanes, false, {},
                   Mask(r.graph->results().size(), true), false};
    regions.push_back(make_region(batch_graph(s.ctx, r.graph, q).graph, region_map(r, dims)));
  }
  std::vector<Type> types;
  for (Type t : n.result_types()) types.push_back(s.lifted(t.substitute(dims)));
  const Vals y = emit_call(n.as<CallAttrs>(), args, std::move(regions), types).out;
  return mapped(y, Mask(y.size(), true));
}

MappedVals batch_branches(Batcher& s, const Node& n, Slice x, DimMap& dims) {
  const bool is_if = n.region_kind() == RegionKind::branch;
  const std::size_t off = is_if ? 1 : 0, branches = is_if ? 2 : 1;
  const Slice given = x.subspan(off);
  Vals args = vals_of(given);
  const auto rag = ragged_entries(s, n, dims);
  const bool lanes = is_if && (x[0].v.rank() > 0 || x[0].batched);
  const bool nested_lanes = is_if && x[0].v.rank() > (x[0].batched ? 1 : 0);
  DimMap outer = dims;
  const std::vector<Symbol> bound = fresh_bound(n.bound(), outer);

  std::vector<GraphRef> graphs;
  Mask out(n.result_count(), lanes), lengths(n.bound().size(), lanes);
  Vals pre;
  if (s.mask) pre.push_back(s.mask);
  Val pred = is_if ? x[0].v : Val{};
  if (lanes) {
    pred = s.lift(x[0]);
    args = lift_all(s, given);
    Val p = any_over(pred, 1), q = any_over(ops::logical_not(pred), 1);
    if (s.mask) p = ops::logical_and(p, s.mask), q = ops::logical_and(q, s.mask);
    for (std::size_t k = 0; k < branches; ++k) {
      const Graph& g =
          *batch_graph(s.ctx, n.region(k).graph,
                       {Mask(args.size(), true), s.lanes, true, rag.symbols, out, true})
               .graph;
      // Both masks are operands; each branch reads its own.
      std::vector<ParamSpec> params = same_params(0, g.param_count());
      params.insert(params.begin() + (k == 0 ? 1 : 0),
                    ParamSpec{ir::kNoNode, Type::get(DType::boolean, {s.lanes})});
      graphs.push_back(with_signature(g, params, results_of(g)));
    }
    pre = {p, q};
  } else {
    bool force_lengths = false;
    for (;;) {
      graphs.clear();
      Mask next(out.size(), false);
      bool next_lengths = force_lengths;
      for (std::size_t k = 0; k < branches; ++k) {
        const Batched& b = batch_graph(s.ctx, n.region(k).graph,
                                       {batched_of(given), s.lanes, static_cast<bool>(s.mask),
                                        rag.symbols, out, force_lengths});
        graphs.push_back(b.graph);
        next = either(next, b.out);
        next_lengths = next_lengths || any(b.lengths);
      }
      if (next == out && next_lengths == force_lengths) break;
      out = next;
      force_lengths = next_lengths;
    }
    lengths.assign(n.bound().size(), force_lengths);
  }
  const std::size_t nl = count(lengths);
  const bool both = nl > 0 && nested_lanes;  // lanes inside share a dim: it is the longer branch's
  if (both) {
    for (GraphRef& g : graphs) {
      auto results = results_of(*g);
      results = join(results, slice_of(results, results.size() - nl, nl));
      g = with_signature(*g, same_params(0, g->param_count()), results);
    }
  }
  std::vector<Type> types;
  for (std::size_t k = 0; k < out.size(); ++k) {
    const Type t = n.result_types()[k].substitute(outer);
    types.push_back(out[k] ? s.lifted(t) : t);
  }
  types.insert(types.end(), both ? 2 * nl : nl, Type::get(DType::i64, {s.lanes}));
  std::vector<Region> regions;
  for (std::size_t k = 0; k < branches; ++k) {
    regions.push_back(make_region(graphs[k], region_map(n.region(k), dims)));
  }
  const Vals all = join(pre, rag.lengths, args);
  Builder::NodeResult c;
  if (is_if) {
    std::vector<std::int64_t> arg_owner(all.size() - args.size(), -1),
        out_owner = n.as<IfAttrs>().out_owner;
    arg_owner = join(arg_owner, n.as<IfAttrs>().arg_owner);
    if (both) {
      out_owner.insert(out_owner.end(), nl, 0);
      out_owner.insert(out_owner.end(), nl, 1);
    } else {
      out_owner.insert(out_owner.end(), nl, -1);
    }
    c = emit_if(pred, all, std::move(regions), types, bound, arg_owner, out_owner);
  } else {
    ir::CallAttrs attrs = n.as<CallAttrs>();
    if (n.regions().size() > 1) attrs.kind = CallKind::plain;  // its rules are not needed any more
    c = emit_call(std::move(attrs), all, std::move(regions), types, bound);
  }
  bind_dims(n.bound(), c.bound, dims);
  Vals ls = slice_of(c.out, out.size(), c.out.size() - out.size());
  if (both) {
    Vals longer;
    for (std::size_t k = 0; k < nl; ++k) longer.push_back(ops::max(ls[k], ls[nl + k]));
    ls = longer;
  }
  for (std::size_t k = 0; k < nl; ++k) s.set_lengths(c.bound[k], ls[k]);
  return mapped(slice_of(c.out, 0, out.size()), out);
}

/// if[B](p, body, identity): lanes that are done keep their carries. In a builder of the caller.
Vals masked_body(Batcher& s, const GraphRef& body, Val p, const Vals& lengths, const Vals& inv,
                 const Mask& inv_batched, const Vals& carries, const Vals& xs,
                 const Mask& xs_batched, const std::vector<Symbol>& ragged, const DimMap& map) {
  const Vals args = join(Vals{p}, lengths, lift_all(s, mapped(inv, inv_batched)), carries,
                         lift_all(s, mapped(xs, xs_batched)));
  const GraphRef& g = batch_graph(s.ctx, body,
                                  {Mask(body->param_count(), true), s.lanes, true, ragged,
                                   Mask(body->results().size(), true), false})
                          .graph;
  GraphRef other;
  {
    Builder b(body->name());
    Vals params;
    for (std::size_t k = 0; k < g->param_count(); ++k)
      params.push_back(b.param(g->type(static_cast<ValueId>(k))));
    Vals results = slice_of(params, 1 + lengths.size() + inv.size(), carries.size());
    for (std::size_t k = results.size(); k < g->results().size(); ++k) {
      results.push_back(ops::ones(g->type(g->results()[k])));
    }
    Builder::Close close;
    close.params = params;
    other = b.build(results, std::move(close));
  }
  const auto types = substitute(g->result_types(), map);
  return emit_if(p, args, {make_region(g, map), make_region(other, map)}, types).out;
}

MappedVals batch_while(Batcher& s, const Node& n, Slice x, DimMap& dims) {
  const WhileAttrs& a = n.as<WhileAttrs>();
  const auto ni = static_cast<std::size_t>(a.n_inv), nc = static_cast<std::size_t>(a.n_carry);
  const std::size_t ny = a.append.size();
  const Region &cond = n.region(0), &body = n.region(1);
  const auto rag = ragged_entries(s, n, dims);
  const Vals inv = vals_of(x.first(ni));
  const Slice start = x.subspan(ni, nc);
  const Mask inv_batched = batched_of(x.first(ni));
  // Lengths are invariants in front; regions see them as such, with lanes.
  const DimMap cond_map = region_map(cond, dims), body_map = region_map(body, dims);
  if (!s.mask) {
    Mask bc = batched_of(start);
    const Batched* gb = nullptr;
    for (;;) {
      gb = &batch_graph(
          s.ctx, body.graph,
          {join(inv_batched, bc), s.lanes, false, rag.symbols, join(bc, Mask(ny, false)), false});
      const Mask out_c = slice_of(gb->out, 0, nc);
      if (out_c == bc) break;
      bc = either(bc, out_c);
    }
    const Batched& gc = batch_graph(
        s.ctx, cond.graph, {join(inv_batched, bc), s.lanes, false, rag.symbols, {}, false});
    if (!gc.out[0]) {  // one condition for all lanes
      const GraphRef lane_body =
          lanes_behind_flat(gb->graph, nc, a.append, slice_of(gb->out, nc, ny));
      auto c = emit_while({join(rag.lengths, inv), lift_where(s, start, bc), gc.graph, lane_body,
                           cond_map, body_map, substitute(a.append, dims), a.max_trips});
      dims.set(n.bound()[0], c.bound[0]);
      bind_flat(n, nc, a.append, c.out, dims);
      for (std::size_t k = nc; k < nc + ny; ++k) {
        if (gb->out[k]) c.out[k] = swap_leading(c.out[k]);
      }
      return mapped(c.out, join(gb->out, Mask{false}));  // one number of trips
    }
  }
  if (has_flat(a.append)) refuse_flat(n);
  Vals init = lift_all(s, start);
  const Batched& gc =
      batch_graph(s.ctx, cond.graph,
                  {join(inv_batched, Mask(nc, true)), s.lanes, false, rag.symbols, {true}, false});
  const Vals outer = join(rag.lengths, inv, init);
  auto entry_dims = [](const GraphRef& g, const DimMap& map) {
    std::vector<Dim> r;
    for (Symbol e : g->dims()) r.push_back(map.get(e));
    return r;
  };
  Val p0 = inline_graph(*gc.graph, outer, entry_dims(gc.graph, cond_map)).results[0];
  if (s.mask) p0 = ops::logical_and(p0, s.mask);
  const Type flags = Type::get(DType::boolean, {s.lanes}),
             counts = Type::get(DType::i64, {s.lanes});
  GraphRef loop_cond, loop_body;
  // Inside the new regions the entry dims of both old ones appear; `inner` names them by the
  // caller's.
  auto declare = [&](Builder& b, Vals& params) {
    for (Val v : outer) params.push_back(b.param(v.type()));
    params.push_back(b.param(flags));
    params.push_back(b.param(counts));
  };
  {
    Builder b("cond");
    Vals params;
    declare(b, params);
    Builder::Close close;
    close.params = params;
    const Val running[] = {any_over(params[outer.size()], 0)};
    loop_cond = b.build(running, std::move(close));
  }
  {
    Builder b("body");
    Vals params;
    declare(b, params);
    const Val p = params[outer.size()], trips = params[outer.size() + 1];
    const std::size_t nl = rag.lengths.size();
    const Vals lengths = slice_of(params, 0, nl), pi = slice_of(params, nl, ni),
               pc = slice_of(params, nl + ni, nc);
    const Vals r =
        masked_body(s, body.graph, p, lengths, pi, inv_batched, pc, {}, {}, rag.symbols, body_map);
    const Vals next = slice_of(r, 0, nc);
    const Val more =
        inline_graph(*gc.graph, join(lengths, pi, next), entry_dims(gc.graph, cond_map)).results[0];
    Vals results = next;
    results.push_back(ops::logical_and(p, more));
    results.push_back(ops::add(trips, ops::convert(p, DType::i64)));
    results = join(results, slice_of(r, nc, ny));
    Builder::Close close;
    close.params = params;
    loop_body = b.build(results, std::move(close));
  }
  init.push_back(p0);
  init.push_back(ops::zeros(counts));
  auto c =
      emit_while({join(rag.lengths, inv), init, loop_cond, loop_body, {}, {}, {}, a.max_trips});
  dims.set(n.bound()[0], c.bound[0]);
  Vals y = slice_of(c.out, 0, nc);
  for (std::size_t k = 0; k < ny; ++k) y.push_back(swap_leading(c.out[nc + 2 + k]));
  const Val trips = c.out[nc + 1];
  y.push_back(trips);
  s.set_lengths(c.bound[0], trips);
  return mapped(y, Mask(y.size(), true));
}

MappedVals batch_scan(Batcher& s, const Node& n, Slice x, DimMap& dims) {
  const ScanAttrs& a = n.as<ScanAttrs>();
  const auto ni = static_cast<std::size_t>(a.n_inv), nc = static_cast<std::size_t>(a.n_carry);
  const std::size_t ny = a.append.size(), nx = x.size() - ni - nc;
  const Region& body = n.region(0);
  const auto rag = ragged_entries(s, n, dims);
  const Vals inv = vals_of(x.first(ni));
  const Slice start = x.subspan(ni, nc);
  Vals xs = vals_of(x.subspan(ni + nc));
  const Mask inv_batched = batched_of(x.first(ni)), xs_batched = batched_of(x.subspan(ni + nc));
  const Dim length = a.length.substitute(dims);
  for (std::size_t k = 0; k < nx; ++k) {
    if (xs_batched[k]) xs[k] = swap_leading(xs[k]);
  }
  // A ragged dim whose lengths differ between lanes is padded to the longest lane of the iteration.
  auto ragged = ragged_symbols(n);
  std::vector<Symbol> inner_ragged = rag.symbols;
  std::vector<std::size_t> lengths_from;
  for (auto& [symbol, k] : ragged) {
    if (!xs_batched[static_cast<std::size_t>(k)]) continue;
    inner_ragged.push_back(symbol);
    lengths_from.push_back(static_cast<std::size_t>(k));
    const std::int64_t lane_axis = 1;
    const Val longest = ops::reduce_max(xs[static_cast<std::size_t>(k)], std::span(&lane_axis, 1));
    k = static_cast<std::int64_t>(xs.size());
    xs.push_back(longest);
  }
  const Val lane_length = s.lengths_of(length);
  const bool flat = has_flat(a.append) || any(a.xrag);
  if (flat && (lane_length || !lengths_from.empty())) refuse_flat(n);
  Mask bc(nc, true), by(ny, true);
  const Batched* gb = nullptr;
  if (!lane_length) {
    bc = batched_of(start);
    by.assign(ny, false);
    for (;;) {
      gb = &batch_graph(s.ctx, body.graph,
                        {join(inv_batched, bc, xs_batched), s.lanes, static_cast<bool>(s.mask),
                         inner_ragged, join(bc, by), false});
      if (gb->out == join(bc, by)) break;
      bc = slice_of(gb->out, 0, nc);
      by = slice_of(gb->out, nc, ny);
    }
  }
  const Vals init = lift_where(s, start, bc);
  Vals pre;
  if (s.mask) pre.push_back(s.mask);
  pre = join(pre, rag.lengths);
  Vals full_inv = join(pre, inv);
  if (lane_length)
    full_inv.push_back(lane_length), xs.push_back(ops::iota(Type::get(DType::i64, {length}), 0));
  const DimMap map = region_map(body, dims);
  GraphRef new_body;
  {
    Builder b("body");
    Vals params, px;
    for (Val v : full_inv) params.push_back(b.param(v.type()));
    const Vals p_inv_all = params;
    Vals pc;
    for (Val v : init) pc.push_back(b.param(v.type()));
    for (std::size_t k = 0; k < xs.size(); ++k) {
      Type t = xs[k].type().without_leading();
      // A piece of a flat history keeps the axis that it was cut along.
      if (k < nx && a.xrag[k]) {
        t = t.with_leading(body.graph->type(static_cast<ValueId>(ni + nc + k)).dim(0));
      }
      px.push_back(b.param(t));
    }
    params = join(params, pc, px);
    const std::size_t n_mask = s.mask ? 1 : 0;
    Vals lengths = slice_of(p_inv_all, n_mask, rag.lengths.size());
    for (std::size_t k : lengths_from) lengths.push_back(px[k]);
    const Vals pi = slice_of(p_inv_all, pre.size(), ni);
    Vals results;
    if (lane_length) {
      const Val i = px.back();
      Val p = ops::compare(ops::Comparison::lt, i, p_inv_all.back());
      if (s.mask) p = ops::logical_and(p, p_inv_all[0]);
      results = masked_body(s, body.graph, p, lengths, pi, inv_batched, pc, slice_of(px, 0, nx),
                            xs_batched, inner_ragged, map);
    } else {
      Vals args = slice_of(p_inv_all, 0, n_mask);
      Vals pieces = slice_of(px, 0, nx);
      for (std::size_t k = 0; k < nx; ++k) {
        if (a.xrag[k] && xs_batched[k]) pieces[k] = swap_leading(pieces[k]);
      }
      args = join(args, lengths, pi, pc, pieces);
      std::vector<Dim> entry;
      for (Symbol e : gb->graph->dims()) entry.push_back(map.get(e));
      results = inline_graph(*gb->graph, args, entry).results;
      for (std::size_t k = 0; k < ny; ++k) {
        if (a.append[k].flat && by[k]) results[nc + k] = swap_leading(results[nc + k]);
      }
    }
    Builder::Close close;
    close.params = params;
    new_body = b.build(results, std::move(close));
  }
  std::vector<bool> xrag = a.xrag;
  xrag.resize(xs.size(), false);
  Vals y = emit_scan({full_inv,
                      init,
                      xs,
                      new_body,
                      {},
                      length,
                      a.reverse,
                      only_in(ragged, *new_body),
                      xrag,
                      substitute(a.append, dims)})
               .out;
  bind_flat(n, nc, a.append, y, dims);
  for (std::size_t k = 0; k < ny; ++k) {
    if (by[k]) y[nc + k] = swap_leading(y[nc + k]);
  }
  return mapped(y, join(bc, by));
}

}  // namespace

MappedVals batch_region(Batcher& s, const Node& n, const MappedVals& x, DimMap& dims) {
  ir::OriginScope origin(n.origin_ref());
  if (n.region_kind() == RegionKind::branch) return batch_branches(s, n, x, dims);
  if (n.region_kind() == RegionKind::call) {
    const CallKind kind = n.as<CallAttrs>().kind;
    // Where lanes are devices, derivatives are taken, and what a custom rule computes of values
    // that all devices share may be what they exchange.
    const bool plain = kind == CallKind::plain || kind == CallKind::remat || s.ctx.devices;
    if (!plain && !any(batched_of(x))) {
      const Vals y = copy_node(n, vals_of(x), dims);
      return mapped(y, Mask(y.size(), false));
    }
    return plain ? batch_branches(s, n, x, dims) : batch_declared_call(s, n, x, dims);
  }
  if (n.region_kind() == RegionKind::manual) return batch_manual(s, n, x, dims);
  return n.region_kind() == RegionKind::loop ? batch_while(s, n, x, dims)
                                             : batch_scan(s, n, x, dims);
}

}  // namespace tlaloc::transform
