#include "tlaloc/transform/split.h"

#include <algorithm>
#include <unordered_set>

#include "tlaloc/transform/dce.h"

namespace tlaloc::transform {
namespace {

bool is_known_linear_call(const Node& n, const std::vector<bool>& operand_unknown) {
  if (n.region_kind() != RegionKind::call || n.as<CallAttrs>().kind != CallKind::linear)
    return false;
  for (std::size_t k = 0; k < static_cast<std::size_t>(n.as<CallAttrs>().n_residuals); ++k) {
    if (operand_unknown[k]) return false;
  }
  return true;
}

/// Every region node with an unknown operand becomes a known and an unknown node.
GraphRef stage(Context& ctx, const GraphRef& g, const Mask& unknown, const Policy& policy) {
  if (!g->has_regions()) return g;
  Builder b(g->name());
  ir::Copier c(*g);
  c.declare_all();
  std::unordered_set<std::uint32_t> unknown_ids;
  for (std::size_t k = 0; k < g->param_count(); ++k) {
    if (unknown[k]) unknown_ids.insert(c.env[k].id);
  }
  auto is_unknown = [&](Val v) { return unknown_ids.contains(v.id); };
  for (std::uint32_t i = 0; i < g->node_count(); ++i) {
    const Node n = g->node(i);
    const Vals x = c.operands(n);
    Mask ux;
    for (Val v : x) ux.push_back(is_unknown(v));
    const bool whole =
        !any(ux) || n.region_kind() == RegionKind::none || is_known_linear_call(n, ux);
    if (whole) {
      c.copy(n);
      if (!any(ux)) continue;
      for (std::size_t k = 0; k < n.result_count(); ++k) {
        // A rewrite may have answered with an operand: that one keeps its own side.
        const Val v = c.env[n.result(k)];
        if (std::ranges::find(x, v) == x.end()) unknown_ids.insert(v.id);
      }
      continue;
    }
    ir::OriginScope origin(n.origin_ref());
    const bool branches =
        n.region_kind() == RegionKind::branch || n.region_kind() == RegionKind::call;
    const Vals y = branches ? split_branches(ctx, n, x, ux, c.dims, policy)
                   : n.region_kind() == RegionKind::manual
                       ? split_manual(ctx, n, x, ux, c.dims, policy)
                       : split_loop(ctx, n, x, ux, c.dims, policy);
    // Of the two nodes that were emitted, one reads something unknown: its results are.
    for (Val v : y) {
      for (std::size_t k = 0; k < b.operand_count(v); ++k) {
        if (is_unknown(b.operand_of(v, k))) unknown_ids.insert(v.id);
      }
    }
    c.set(n, y);
  }
  c.copy_constraints();
  Builder::Close close;
  close.result_dims = c.result_dims();
  return b.build(c.results(), std::move(close));
}

class Splitter {
 public:
  Splitter(Context& ctx, const GraphRef& g, const Mask& unknown, const Policy& policy,
           const Mask& force, const SplitPlace& place)
      : ctx_(ctx), s_(stage(ctx, g, unknown, policy)), policy_(policy), place_(place) {
    unknown_.assign(s_->value_count(), false);
    for (std::size_t k = 0; k < s_->param_count(); ++k) unknown_[k] = unknown[k];
    node_unknown_.assign(s_->node_count(), false);
    for (std::uint32_t i = 0; i < s_->node_count(); ++i) {
      const Node n = s_->node(i);
      for (ValueId v : n.operands()) node_unknown_[i] = node_unknown_[i] || unknown_[v];
      for (std::size_t k = 0; k < n.result_count(); ++k) unknown_[n.result(k)] = node_unknown_[i];
    }
    for (std::size_t k = 0; k < s_->results().size(); ++k) {
      out_unknown_.push_back(unknown_[s_->results()[k]] || (!force.empty() && force[k]));
    }
  }

  Split run() {
    std::vector<std::uint32_t> local;
    for (Symbol s : place_.local) local.push_back(s.id());
    for (std::uint32_t i = 0; i < s_->node_count(); ++i) {
      for (Symbol b : s_->node(i).bound()) {
        binders_.insert(b.id());
        if (place_.loop_body) local.push_back(b.id());
      }
    }
    std::ranges::sort(local);
    std::vector<ValueId> needed;
    for (std::size_t k = 0; k < out_unknown_.size(); ++k) {
      if (out_unknown_[k] && !unknown_[s_->results()[k]]) needed.push_back(s_->results()[k]);
    }
    for (std::uint32_t i = 0; i < s_->node_count(); ++i) {
      if (!node_unknown_[i]) continue;
      for (ValueId v : s_->node(i).operands()) {
        if (!unknown_[v]) needed.push_back(v);
      }
    }
    std::ranges::sort(needed);
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    std::vector<std::uint32_t> rebound;
    do {
      kept_ = choose_residuals({*s_, unknown_, needed, local, rebound, policy_, place_});
      mark_again(needed);
    } while (add_rebound(rebound));
    Split r;
    r.out_unknown = out_unknown_;
    build_unknown(r);
    build_known(r);
    return r;
  }

 private:
  /// The known nodes that the unknown part computes again.
  void mark_again(std::vector<ValueId> todo) {
    again_.assign(s_->node_count(), false);
    std::erase_if(todo, [&](ValueId v) { return kept_[v]; });
    while (!todo.empty()) {
      const ValueId v = todo.back();
      todo.pop_back();
      const std::uint32_t i = s_->producer(v);
      if (i == ir::kNoNode || again_[i]) continue;
      again_[i] = true;
      for (ValueId a : s_->node(i).operands()) {
        if (!kept_[a]) todo.push_back(a);
      }
    }
  }

  /// A node that is computed again binds its sizes anew, so nothing may be kept that mentions the
  /// old ones: the two could not be proved equal. Adds such symbols; false if there are none.
  bool add_rebound(std::vector<std::uint32_t>& rebound) const {
    const std::size_t before = rebound.size();
    std::vector<std::uint32_t> again;
    for (std::uint32_t i = 0; i < s_->node_count(); ++i) {
      if (!again_[i]) continue;
      for (Symbol s : s_->node(i).bound()) again.push_back(s.id());
    }
    if (again.empty()) return false;
    std::unordered_set<std::uint32_t> mentioned;
    for (ValueId v = 0; v < s_->value_count(); ++v) {
      if (!kept_[v] || !s_->type(v).has_symbols()) continue;
      for (Dim d : s_->type(v).shape()) {
        d.each_symbol([&](Symbol s) { mentioned.insert(s.id()); });
      }
    }
    for (std::uint32_t s : again) {
      if (mentioned.contains(s)) rebound.push_back(s);
    }
    std::ranges::sort(rebound);
    return rebound.size() > before;
  }

  void build_unknown(Split& r) {
    std::vector<ValueId> order;
    for (ValueId v = 0; v < s_->value_count(); ++v) {
      if (kept_[v]) order.push_back(v);
    }
    Builder b(s_->name());
    b.expect(*s_);
    ir::Copier c(*s_);
    for (ValueId v : order) c.env[v] = b.param(s_->type(v));
    for (std::size_t k = 0; k < s_->param_count(); ++k) {
      if (unknown_[k]) c.declare(k);
    }
    for (std::uint32_t i = 0; i < s_->node_count(); ++i) {
      if (!node_unknown_[i] && !again_[i]) continue;
      const Node n = s_->node(i);
      if (n.result_count() == 1) {
        c.copy_as_is(n);
        continue;
      }
      const Vals kept = slice_of(c.env, n.result(), n.result_count());
      c.copy_as_is(n);
      for (std::size_t k = 0; k < kept.size(); ++k) {
        if (kept[k]) c.env[n.result(k)] = kept[k];  // kept all the same
      }
    }
    Vals results;
    for (std::size_t k = 0; k < out_unknown_.size(); ++k) {
      if (out_unknown_[k]) results.push_back(c.env[s_->results()[k]]);
    }
    GraphRef u = dce_graph(ctx_, b.build(results));
    // Residuals that turned out not to be read are not kept.
    Mask used = used_params(*u);
    for (std::size_t k = order.size(); k < used.size(); ++k) used[k] = true;
    if (count(used) != used.size()) {
      u = with_signature(*u, pick(same_params(0, used.size()), used), results_of(*u));
    }
    order_ = pick(order, slice_of(used, 0, order.size()));
    for (Symbol s : u->dims()) {
      if (binders_.contains(s.id())) r.res_dims.push_back(s);
    }
    r.unknown = std::move(u);
  }

  void build_known(Split& r) {
    Builder b(s_->name());
    b.expect(*s_);
    ir::Copier c(*s_);
    for (std::size_t k = 0; k < s_->param_count(); ++k) {
      if (!unknown_[k]) c.declare(k);
    }
    for (std::uint32_t i = 0; i < s_->node_count(); ++i) {
      if (!node_unknown_[i]) c.copy_as_is(s_->node(i));
    }
    c.copy_constraints();
    Vals results;
    for (std::size_t k = 0; k < out_unknown_.size(); ++k) {
      if (!out_unknown_[k]) results.push_back(c.env[s_->results()[k]]);
    }
    std::size_t extra = 0;
    for (ValueId v : order_) {
      if (s_->is_param(v)) {
        r.residuals.push_back({true, v});
      } else {
        r.residuals.push_back({false, extra++});
        results.push_back(c.env[v]);
      }
    }
    Builder::Close close;
    close.result_dims = c.result_dims();
    for (Symbol s : r.res_dims) close.result_dims.push_back(c.dims.get(s));
    r.known = dce_graph(ctx_, b.build(results, std::move(close)));
  }

  Context& ctx_;
  GraphRef s_;
  const Policy& policy_;
  const SplitPlace& place_;
  std::vector<bool> unknown_, node_unknown_, kept_, again_;
  Mask out_unknown_;
  std::unordered_set<std::uint32_t> binders_;
  std::vector<ValueId> order_;
};

}  // namespace

const Split& split_graph(Context& ctx, const GraphRef& g, const Mask& unknown, const Policy& policy,
                         const Mask& force, const SplitPlace& place) {
  Key key;
  key << g << unknown << force << static_cast<int>(policy.residuals)
      << static_cast<int>(policy.nested) << static_cast<int>(place.loop_body)
      << static_cast<int>(place.invariants);
  for (Symbol s : place.local) key << Dim(s);
  for (char c : place.remat) key << static_cast<int>(c);
  if (const Split* known = ctx.split->find(key)) return *known;
  return ctx.split->put(key, g, Splitter(ctx, g, unknown, policy, force, place).run());
}

}  // namespace tlaloc::transform
