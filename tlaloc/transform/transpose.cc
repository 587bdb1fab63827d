#include "tlaloc/transform/transpose.h"

#include <algorithm>
#include <optional>

#include "tlaloc/ops/rows.h"
#include "tlaloc/transform/dce.h"

namespace tlaloc::transform {

namespace {
Val settled(Val v, const Guard& g) {
  if (!g.spoiled) return v;
  const Val zero = ops::zeros_like(v);
  return g.taken ? ops::select(g.pred, v, zero) : ops::select(g.pred, zero, v);
}
}  // namespace

void Cotangent::add(Val v, const Guard& guard) {
  if (empty()) {
    dense_ = v;
    guard_ = guard;
    return;
  }
  if (guard.pred == guard_.pred && guard.taken == guard_.taken) {
    guard_.spoiled = guard_.spoiled || guard.spoiled;
  } else {
    if (dense_) dense_ = settled(dense_, guard_);
    v = settled(v, guard);
    guard_ = {};
  }
  dense_ = dense_ ? ops::add(dense_, v) : v;
}
void Cotangent::absorb(std::function<Val(Val)> update) {
  if (dense_) dense_ = settled(dense_, guard_);
  guard_ = {};
  updates_.push_back(std::move(update));
}

Val Cotangent::get(Type type) const {
  Val v = dense_ ? settled(dense_, guard_) : ops::zeros(type);
  for (const auto& update : updates_) v = update(v);
  return v;
}

namespace {

/// Cotangents by value. Few exist at a time, so they share a small pool.
class Cotangents {
 public:
  explicit Cotangents(std::size_t values) : slots_(values, kNone) {}
  bool has(ValueId v) const { return slots_[v] != kNone; }
  const Cotangent& get(ValueId v) const { return pool_[slots_[v]]; }
  /// The one of v, or a new one, to which the caller adds.
  Cotangent& at(ValueId v) {
    std::uint32_t& slot = slots_[v];
    if (slot != kNone) return pool_[slot];
    if (free_.empty()) {
      slot = static_cast<std::uint32_t>(pool_.size());
      return pool_.emplace_back();
    }
    slot = free_.back();
    free_.pop_back();
    return pool_[slot];
  }
  void drop(ValueId v) {
    pool_[slots_[v]] = {};
    free_.push_back(slots_[v]);
    slots_[v] = kNone;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> slots_, free_;
  std::vector<Cotangent> pool_;
};

class Pass {
 public:
  Pass(Context& ctx, const GraphRef& g, const Mask& linear)
      : ctx_(ctx), g_(*g), copier_(*g), linear_(g->value_count()), ct_(g->value_count()) {
    for (std::size_t k = 0; k < g_.param_count(); ++k) {
      linear_[k] = linear[k];
      if (linear[k]) linear_params_.push_back(static_cast<ValueId>(k));
    }
  }

  /// (nonlinear params, cotangents, accumulators) as a graph.
  Masked graph(const Mask& ct, const Mask& force, const Mask& acc) {
    Builder b(g_.name());
    b.expect(g_);
    for (std::size_t k = 0; k < g_.param_count(); ++k) {
      if (!linear_[k]) copier_.declare(k);
    }
    auto declare = [&](ValueId v, bool exists) { return exists ? b.param(g_.type(v)) : Val{}; };
    Vals cts, accumulators;
    for (std::size_t k = 0; k < g_.results().size(); ++k) {
      cts.push_back(declare(g_.results()[k], ct[k]));
    }
    for (std::size_t k = 0; k < linear_params_.size(); ++k) {
      accumulators.push_back(declare(linear_params_[k], !acc.empty() && acc[k]));
    }
    const Vals results = run(cts, accumulators, force);
    return {dce_graph(ctx_, b.build(present_only(results))), present(results)};
  }

  /// The same into the current builder, without accumulators.
  Vals into(const Vals& nonlinear, const DimMap& entry, const Vals& cts) {
    Builder::current().expect(g_);
    copier_.dims = entry;
    for (std::size_t k = 0, next = 0; k < g_.param_count(); ++k) {
      if (!linear_[k]) copier_.env[k] = nonlinear[next++];
    }
    const std::size_t n = linear_params_.size();
    return run(cts, Vals(n), Mask(n, true));
  }

 private:
  /// Cotangents of the linear params; absent where there is none.
  Vals run(const Vals& cts, const Vals& accumulators, const Mask& force) {
    emit_nonlinear();
    for (std::size_t k = 0; k < linear_params_.size(); ++k) {
      if (accumulators[k]) put(linear_params_[k], accumulators[k]);
    }
    for (std::size_t k = 0; k < cts.size(); ++k) {
      if (cts[k]) put(g_.results()[k], cts[k]);
    }
    for (std::uint32_t i = static_cast<std::uint32_t>(g_.node_count()); i-- > 0;) visit(g_.node(i));
    Vals results;
    for (std::size_t k = 0; k < linear_params_.size(); ++k) {
      const ValueId v = linear_params_[k];
      const Type t = g_.type(v).substitute(copier_.dims);
      const bool forced = !force.empty() && force[k];
      results.push_back(ct_.has(v) ? ct_.get(v).get(t) : forced ? ops::zeros(t) : Val{});
    }
    return results;
  }

  bool is_linear(const Node& n) const {
    for (ValueId v : n.operands()) {
      if (linear_[v]) return true;
    }
    return false;
  }
  void put(ValueId v, Val ct, const Guard& guard = {}) {
    if (linear_[v]) ct_.at(v).add(ct, guard);
  }

  void emit_nonlinear() {
    for (std::uint32_t i = 0; i < g_.node_count(); ++i) {
      const Node n = g_.node(i);
      if (!is_linear(n)) {
        copier_.copy(n);
        continue;
      }
      for (std::size_t k = 0; k < n.result_count(); ++k) linear_[n.result(k)] = true;
    }
    copier_.copy_constraints();
  }

  class Sink final : public ir::CotangentSink {
   public:
    /// `guard`: of what the rule gives; of a select, what its operands get.
    Sink(Pass& pass, const Node& n, const Guard& guard) : pass_(pass), n_(n), guard_(guard) {}
    void add(int k, Val v) override {
      Guard guard = guard_;
      if (&n_.op() == &ops::rows::Select) guard.taken = k == 1;
      pass_.put(n_.operand(static_cast<std::size_t>(k)), v, guard);
    }
    void absorb(int k, std::function<Val(Val)> update) override {
      const ValueId v = n_.operand(static_cast<std::size_t>(k));
      if (pass_.linear_[v]) pass_.ct_.at(v).absorb(std::move(update));
    }

   private:
    Pass& pass_;
    const Node& n_;
    const Guard guard_;
  };

  /// The guard of the contributions of the rule of n, which has one result.
  Guard guard_through(const Node& n) const {
    const ir::OpDef& op = n.op();
    if (&op == &ops::rows::Select) return {.pred = copier_.env[n.operand(0)]};
    if (!op.traits.elementwise || !ct_.has(n.result()) || !ct_.get(n.result()).guarded()) return {};
    Guard g = ct_.get(n.result()).guard();
    g.spoiled = g.spoiled || &op == &ops::rows::Mul || &op == &ops::rows::Div;
    return g;
  }

  void visit(const Node& n) {
    if (!is_linear(n)) return;
    ct_in_.clear();
    bool reached = false;
    const Guard guard = n.result_count() == 1 ? guard_through(n) : Guard{};
    for (std::size_t k = 0; k < n.result_count(); ++k) {
      const ValueId v = n.result(k);
      if (!ct_.has(v)) {
        ct_in_.emplace_back();
        continue;
      }
      const Cotangent& c = ct_.get(v);
      ct_in_.push_back(guard.pred && &n.op() != &ops::rows::Select
                           ? c.unguarded()
                           : c.get(n.result_types()[k].substitute(copier_.dims)));
      ct_.drop(v);
      reached = true;
    }
    if (!reached) return;
    std::optional<ir::OriginScope> scope;
    if (!n.origin().name.empty() || n.origin().place.known()) {
      ir::Origin origin = n.origin();
      origin.role = ir::Role::cotangent;
      scope.emplace(std::move(origin));
    }
    x_.clear();
    in_types_.clear();
    for (ValueId v : n.operands()) {
      x_.push_back(linear_[v] ? Val{} : copier_.env[v]);
      in_types_.push_back(g_.type(v).substitute(copier_.dims));
    }
    if (n.region_kind() != RegionKind::none) {
      const Vals x = x_, ct = ct_in_;
      const std::vector<Type> in_types = in_types_;
      Mask linear;
      for (ValueId v : n.operands()) linear.push_back(linear_[v]);
      // Cotangents put by the region come after those taken from the same operand.
      const TransposeSite site{ctx_,
                               n,
                               x,
                               in_types,
                               linear,
                               ct,
                               copier_.dims,
                               [&](std::size_t k) {
                                 const ValueId v = n.operand(k);
                                 const Type t = g_.type(v).substitute(copier_.dims);
                                 if (!ct_.has(v) || t.rank() == 0) return Val{};
                                 const Val taken = ct_.get(v).get(t);
                                 ct_.drop(v);
                                 return taken;
                               },
                               [&](std::size_t k, Val v) { put(n.operand(k), v); }};
      transpose_region(site);
      return;
    }
    if (!n.op().transpose) {
      refuse("TL-GRAD-002", n.op(), std::string("can't be transposed: ") + n.op().transpose.refusal,
             "only linear functions have a transpose", n.origin());
    }
    ir::AttrRef attr = n.attr();
    if (attr && attr->has_dims() && !copier_.dims.empty()) attr = attr->substitute(copier_.dims);
    out_types_.clear();
    for (Type t : n.result_types()) out_types_.push_back(t.substitute(copier_.dims));
    Sink sink(*this, n, guard);
    try {
      n.op().transpose.fn({&n.op(), attr.get(), x_, {}, in_types_, out_types_}, ct_in_, sink);
    } catch (Error& e) {
      if (!e.info().place.known()) e.add_place(n.origin().place);
      throw;
    }
  }

  Context& ctx_;
  const Graph& g_;
  ir::Copier copier_;
  std::vector<std::uint8_t> linear_;
  Cotangents ct_;  ///< of linear values
  std::vector<ValueId> linear_params_;
  // Buffers of the node being visited.
  Vals x_, ct_in_;
  std::vector<Type> in_types_, out_types_;
};

}  // namespace

const Masked& transpose_graph(Context& ctx, const GraphRef& g, const Mask& linear, const Mask& ct,
                              const Mask& force, const Mask& acc) {
  const Key key = Key() << g << linear << ct << force << acc;
  if (const Masked* known = ctx.transpose.find(key)) return *known;
  return ctx.transpose.put(key, g, Pass(ctx, g, linear).graph(ct, force, acc));
}

Vals transpose_into(Context& ctx, const GraphRef& g, const Mask& linear, const Vals& nonlinear,
                    const DimMap& entry, const Vals& ct) {
  return Pass(ctx, g, linear).into(nonlinear, entry, ct);
}

}  // namespace tlaloc::transform
