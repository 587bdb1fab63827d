#include "tlaloc/transform/dce.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace tlaloc::transform {
namespace {

/// What becomes of one node with a shrinkable signature.
struct Shrunk {
  std::vector<GraphRef> regions;
  Mask operands;  ///< of the region params
  Mask results;
};

/// What is left of a composite says what it was, so that kernels can still claim it: the numbers of
/// its operands and results as they were stated.
void keep_numbers(CallAttrs& a, const char* name, const Mask& kept) {
  if (std::ranges::find(kept, false) == kept.end()) return;
  auto it = std::ranges::find(a.params, name, &ir::CallParam::name);
  if (it == a.params.end()) {
    std::vector<std::int64_t> all(kept.size());
    std::iota(all.begin(), all.end(), 0);
    it = a.params.insert(it, {name, std::move(all), {}});
  }
  // Somebody's own parameter of that name says nothing about them.
  if (it->ints.size() == kept.size()) it->ints = pick(it->ints, kept);
}
CallAttrs shrunk_call(CallAttrs a, const Shrunk& s) {
  if (a.params.empty()) return a;
  keep_numbers(a, "left.operands", s.operands);
  keep_numbers(a, "left.results", s.results);
  return a;
}

class Pass {
 public:
  Pass(Context& ctx, const GraphRef& g, const Mask& keep)
      : ctx_(ctx), g_(g), keep_(keep), live_(g->value_count()), plan_(g->node_count()) {}

  GraphRef run() {
    mark();
    return rebuild();
  }

 private:
  void need(Dim d) {
    if (!d.is_constant()) d.each_symbol([&](Symbol s) { live_dims_.insert(s.id()); });
  }
  void need(Type t) {
    if (t.has_symbols()) std::ranges::for_each(t.shape(), [&](Dim d) { need(d); });
  }
  bool live_dim(Symbol s) const { return live_dims_.contains(s.id()); }

  void mark() {
    for (std::size_t k = 0; k < g_->results().size(); ++k) {
      if (keep_[k]) live_[g_->results()[k]] = true, need(g_->type(g_->results()[k]));
    }
    for (Dim d : g_->result_dims()) need(d);
    for (std::uint32_t i = static_cast<std::uint32_t>(g_->node_count()); i-- > 0;) {
      const Node n = g_->node(i);
      Mask results;
      for (std::size_t k = 0; k < n.result_count(); ++k) results.push_back(live_[n.result(k)]);
      bool effect = n.op().traits.ordered;
      for (const Region& r : n.regions()) effect = effect || r.graph->has_effects();
      const bool needed = any(results) || effect ||
                          std::ranges::any_of(n.bound(), [&](Symbol s) { return live_dim(s); });
      if (!needed) continue;
      kept_.push_back(i);
      Mask operands(n.operands().size(), true);
      const bool declared =
          n.region_kind() == RegionKind::call &&
          (n.as<CallAttrs>().kind != CallKind::plain && n.as<CallAttrs>().kind != CallKind::remat);
      if (n.region_kind() == RegionKind::branch || n.region_kind() == RegionKind::call) {
        if (!declared && !effect) {
          plan_[i] = shrink_branches(n, results);
          std::copy(plan_[i]->operands.begin(), plan_[i]->operands.end(),
                    operands.begin() + (n.region_kind() == RegionKind::branch ? 1 : 0));
        }
      } else if (n.region_kind() == RegionKind::manual) {
        if (!effect) {
          plan_[i] = shrink_branches(n, results);
          operands = plan_[i]->operands;
        }
      } else if (n.region_kind() != RegionKind::none && !effect) {
        plan_[i] = shrink_loop(n, results);
        operands = plan_[i]->operands;
      }
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (operands[k]) live_[n.operand(k)] = true, need(g_->type(n.operand(k)));
      }
      if (n.attr() && n.attr()->has_dims()) n.attr()->each_dim([&](Dim d) { need(d); });
      for (const Region& r : n.regions()) {
        for (const auto& d : r.dims) {
          if (d) need(*d);
        }
      }
      for (Type t : n.result_types()) need(t);
    }
    std::ranges::reverse(kept_);
  }

  Shrunk shrink_branches(const Node& n, const Mask& results) {
    Shrunk s;
    s.results = results;
    for (const Region& r : n.regions()) {
      s.regions.push_back(dce_graph(ctx_, r.graph, results));
      const Mask used = used_params(*s.regions.back());
      s.operands = s.operands.empty() ? used : either(s.operands, used);
    }
    return s;
  }

  Shrunk shrink_loop(const Node& n, const Mask& wanted) {
    const bool is_while = n.region_kind() == RegionKind::loop;
    const auto ni =
        static_cast<std::size_t>(is_while ? n.as<WhileAttrs>().n_inv : n.as<ScanAttrs>().n_inv);
    const auto nc =
        static_cast<std::size_t>(is_while ? n.as<WhileAttrs>().n_carry : n.as<ScanAttrs>().n_carry);
    const std::vector<Append>& append =
        is_while ? n.as<WhileAttrs>().append : n.as<ScanAttrs>().append;
    const std::size_t ny = append.size();
    const GraphRef& body = n.regions().back().graph;
    Mask carries = slice_of(wanted, 0, nc), ys = slice_of(wanted, nc, ny);
    // One member of an append group stays while its flat length is used.
    for (std::size_t k = 0; k < ny; ++k) {
      if (!append[k].flat || append[k].length || ys[k]) continue;
      const Dim lead = n.result_types()[nc + k].dim(0);
      if (!live_dim(*lead.as_symbol())) continue;
      bool kept = false;
      for (std::size_t q = 0; q < ny; ++q) {
        kept = kept || (ys[q] && n.result_types()[nc + q].dim(0) == lead);
      }
      if (!kept) ys[k] = true;
    }
    Mask cond_used;
    if (is_while) {
      cond_used = used_params(*n.region(0).graph);
      carries = either(carries, slice_of(cond_used, ni, nc));
    }
    Shrunk s;
    for (;;) {
      GraphRef b = dce_graph(ctx_, body, join(carries, ys));
      const Mask used = used_params(*b);
      const Mask next = either(carries, slice_of(used, ni, nc));
      if (next == carries) {
        s.operands = used;
        s.regions = {b};
        break;
      }
      carries = next;
    }
    for (std::size_t k = 0; k < nc; ++k) s.operands[ni + k] = carries[k];
    if (is_while) {
      for (std::size_t k = 0; k < ni; ++k) s.operands[k] = s.operands[k] || cond_used[k];
    }
    for (const auto& [symbol, xs] : only_in(ragged_symbols(n), *s.regions[0])) {
      s.operands[ni + nc + static_cast<std::size_t>(xs)] = true;
    }
    s.results = join(carries, ys);
    if (is_while) s.results.push_back(true);
    return s;
  }

  GraphRef rebuild() {
    Builder b(g_->name());
    ir::Copier c(*g_);
    c.declare_all();
    for (std::uint32_t i : kept_) {
      const Node n = g_->node(i);
      if (!plan_[i]) {
        c.copy(n);
        continue;
      }
      ir::OriginScope origin(n.origin_ref());
      const Vals out = emit(n, *plan_[i], c.env, c.dims);
      std::size_t next = 0;
      for (std::size_t k = 0; k < n.result_count(); ++k) {
        if (plan_[i]->results[k]) c.env[n.result(k)] = out[next++];
      }
    }
    c.copy_constraints();
    Vals results;
    Builder::Close close;
    for (std::size_t k = 0; k < g_->results().size(); ++k) {
      if (!keep_[k]) continue;
      results.push_back(c.env[g_->results()[k]]);
      close.result_labels.push_back(g_->result_label(k));
    }
    close.result_dims = c.result_dims();
    return b.build(results, std::move(close));
  }

  static GraphRef with_params(const GraphRef& g, const Mask& mask) {
    if (count(mask) == mask.size()) return g;
    return with_signature(*g, pick(same_params(0, mask.size()), mask), results_of(*g));
  }

  Vals emit(const Node& n, const Shrunk& s, const Vals& env, DimMap& dims) {
    auto operands = [&](std::size_t from, std::size_t count, std::size_t mask_from) {
      Vals r;
      for (std::size_t k = 0; k < count; ++k) {
        if (s.operands[mask_from + k]) r.push_back(env[n.operand(from + k)]);
      }
      return r;
    };
    if (n.region_kind() == RegionKind::branch || n.region_kind() == RegionKind::call) {
      const std::size_t off = n.region_kind() == RegionKind::branch ? 1 : 0;
      DimMap outer = dims;
      std::vector<Symbol> bound = fresh_bound(n.bound(), outer);
      std::vector<Type> types;
      for (std::size_t k = 0; k < n.result_count(); ++k) {
        if (s.results[k]) types.push_back(n.result_types()[k].substitute(outer));
      }
      std::vector<Region> regions;
      for (std::size_t k = 0; k < s.regions.size(); ++k) {
        regions.push_back(
            make_region(with_params(s.regions[k], s.operands), region_map(n.region(k), dims)));
      }
      const Vals args = operands(off, n.operands().size() - off, 0);
      Builder::NodeResult c;
      if (off) {
        const IfAttrs& a = n.as<IfAttrs>();
        c = emit_if(env[n.operand(0)], args, std::move(regions), types, bound,
                    pick(a.arg_owner, s.operands), pick(a.out_owner, s.results));
      } else {
        c = emit_call(shrunk_call(n.as<CallAttrs>(), s), args, std::move(regions), types, bound);
      }
      bind_dims(n.bound(), c.bound, dims);
      return c.out;
    }
    if (n.region_kind() == RegionKind::manual) {
      ManualAttrs a = n.as<ManualAttrs>();
      a.in = pick(a.in, s.operands);
      a.out = pick(a.out, s.results);
      return emit_manual(std::move(a), operands(0, n.operands().size(), 0),
                         with_params(s.regions[0], s.operands), region_map(n.region(0), dims));
    }
    const bool is_while = n.region_kind() == RegionKind::loop;
    const auto ni =
        static_cast<std::size_t>(is_while ? n.as<WhileAttrs>().n_inv : n.as<ScanAttrs>().n_inv);
    const auto nc =
        static_cast<std::size_t>(is_while ? n.as<WhileAttrs>().n_carry : n.as<ScanAttrs>().n_carry);
    const auto& append = is_while ? n.as<WhileAttrs>().append : n.as<ScanAttrs>().append;
    const Mask ys = slice_of(s.results, nc, append.size());
    const std::vector<Append> kept_append = substitute(pick(append, ys), dims);
    const std::size_t nx = n.operands().size() - ni - nc;
    GraphRef body = with_params(s.regions[0], s.operands);
    const DimMap map = region_map(n.regions().back(), dims);
    Builder::NodeResult c;
    if (is_while) {
      GraphRef cond = dce_graph(ctx_, with_params(n.region(0).graph, s.operands));
      c = emit_while({operands(0, ni, 0), operands(ni, nc, ni), std::move(cond), std::move(body),
                      region_map(n.region(0), dims), map, kept_append,
                      n.as<WhileAttrs>().max_trips});
    } else {
      const ScanAttrs& a = n.as<ScanAttrs>();
      const Mask xs = slice_of(s.operands, ni + nc, nx);
      auto ragged = only_in(ragged_symbols(n), *body);
      for (auto& [symbol, k] : ragged) {
        k = static_cast<std::int64_t>(count(slice_of(xs, 0, static_cast<std::size_t>(k))));
      }
      c = emit_scan({operands(0, ni, 0), operands(ni, nc, ni), operands(ni + nc, nx, ni + nc),
                     std::move(body), map, a.length.substitute(dims), a.reverse, ragged,
                     pick(a.xrag, xs), kept_append});
    }
    if (is_while) dims.set(n.bound()[0], c.bound[0]);
    // Flat lengths by the outputs that carry them: whole groups may be gone.
    std::size_t next = 0;
    for (std::size_t k = 0; k < s.results.size(); ++k) {
      if (!s.results[k]) continue;
      const Type old = n.result_types()[k];
      if (k >= nc && k < nc + append.size() && append[k - nc].flat && !append[k - nc].length) {
        dims.set(*old.dim(0).as_symbol(), c.out[next].dim(0));
      }
      ++next;
    }
    return c.out;
  }

  Context& ctx_;
  const GraphRef& g_;
  const Mask keep_;
  std::vector<bool> live_;
  std::unordered_set<std::uint32_t> live_dims_;
  std::vector<std::optional<Shrunk>> plan_;
  std::vector<std::uint32_t> kept_;
};

}  // namespace

GraphRef dce_graph(Context& ctx, const GraphRef& g, const Mask& keep) {
  // Closing a trace drops dead nodes already; what is left to do is inside regions.
  if (!g->has_regions() && (keep.empty() || count(keep) == keep.size())) return g;
  const Mask mask = keep.empty() ? Mask(g->results().size(), true) : keep;
  const Key key = Key() << g << mask;
  if (const GraphRef* known = ctx.dce.find(key)) return *known;
  return ctx.dce.put(key, g, Pass(ctx, g, mask).run());
}

}  // namespace tlaloc::transform
