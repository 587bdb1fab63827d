#include "tlaloc/transform/transpose.h"

#include <algorithm>

#include "tlaloc/transform/dce.h"

namespace tlaloc::transform {

void Cotangent::add(Val v) { dense_ = dense_ ? ops::add(dense_, v) : v; }

Val Cotangent::get(Type type) const {
  Val v = dense_ ? dense_ : ops::zeros(type);
  for (const auto& update : updates_) v = update(v);
  return v;
}

namespace {

class Pass {
 public:
  Pass(Context& ctx, const GraphRef& g, const Mask& linear, const Mask& ct, const Mask& force,
       const Mask& acc)
      : ctx_(ctx), g_(*g), copier_(*g), linear_(g->value_count()), ct_(g->value_count()) {
    Builder b(g->name());
    std::vector<ValueId> linear_params;
    for (std::size_t k = 0; k < g_.param_count(); ++k) {
      const auto v = static_cast<ValueId>(k);
      linear_[v] = linear[k];
      if (linear[k])
        linear_params.push_back(v);
      else
        copier_.declare(k);
    }
    Vals cts;
    for (std::size_t k = 0; k < g_.results().size(); ++k) {
      cts.push_back(ct[k] ? b.param(g_.type(g_.results()[k])) : Val{});
    }
    Vals accumulators;
    for (std::size_t k = 0; k < linear_params.size(); ++k) {
      const bool given = !acc.empty() && acc[k];
      accumulators.push_back(given ? b.param(g_.type(linear_params[k])) : Val{});
    }
    emit_nonlinear();
    for (std::size_t k = 0; k < linear_params.size(); ++k) {
      if (accumulators[k]) put(linear_params[k], accumulators[k]);
    }
    for (std::size_t k = 0; k < cts.size(); ++k) {
      if (cts[k]) put(g_.results()[k], cts[k]);
    }
    for (std::uint32_t i = static_cast<std::uint32_t>(g_.node_count()); i-- > 0;) visit(g_.node(i));
    Vals results;
    for (std::size_t k = 0; k < linear_params.size(); ++k) {
      const ValueId v = linear_params[k];
      const bool forced = !force.empty() && force[k];
      const bool has = !ct_[v].empty();
      result_.out.push_back(has || forced);
      if (has)
        results.push_back(ct_[v].get(g_.type(v).substitute(copier_.dims)));
      else if (forced)
        results.push_back(ops::zeros(g_.type(v)));
    }
    result_.graph = dce_graph(ctx_, b.build(results));
  }
  Masked take() { return std::move(result_); }

 private:
  bool is_linear(const Node& n) const {
    for (ValueId v : n.operands()) {
      if (linear_[v]) return true;
    }
    return false;
  }
  void put(ValueId v, Val ct) {
    if (linear_[v]) ct_[v].add(ct);
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
    Sink(Pass& pass, const Node& n) : pass_(pass), n_(n) {}
    void add(int k, Val v) override { pass_.put(n_.operand(static_cast<std::size_t>(k)), v); }
    void absorb(int k, std::function<Val(Val)> update) override {
      const ValueId v = n_.operand(static_cast<std::size_t>(k));
      if (pass_.linear_[v]) pass_.ct_[v].absorb(std::move(update));
    }

   private:
    Pass& pass_;
    const Node& n_;
  };

  void visit(const Node& n) {
    if (!is_linear(n)) return;
    Vals ct;
    bool reached = false;
    for (std::size_t k = 0; k < n.result_count(); ++k) {
      Cotangent& c = ct_[n.result(k)];
      ct.push_back(c.empty() ? Val{} : c.get(n.result_types()[k].substitute(copier_.dims)));
      c = {};
      reached = reached || ct.back();
    }
    if (!reached) return;
    ir::Origin origin = n.origin();
    origin.role = ir::Role::cotangent;
    std::unique_ptr<ir::OriginScope> scope;
    if (!origin.name.empty() || origin.place.known()) {
      scope = std::make_unique<ir::OriginScope>(std::move(origin));
    }
    Vals x;
    Mask linear;
    for (ValueId v : n.operands()) {
      x.push_back(linear_[v] ? Val{} : copier_.env[v]);
      linear.push_back(linear_[v]);
    }
    std::vector<Type> in_types;
    for (ValueId v : n.operands()) in_types.push_back(g_.type(v).substitute(copier_.dims));
    if (n.region_kind() != RegionKind::none) {
      // Cotangents put by the region come after those taken from the same operand.
      const TransposeSite site{ctx_,
                               n,
                               x,
                               in_types,
                               linear,
                               ct,
                               copier_.dims,
                               [&](std::size_t k) {
                                 Cotangent& c = ct_[n.operand(k)];
                                 const Type t = g_.type(n.operand(k)).substitute(copier_.dims);
                                 if (!linear_[n.operand(k)] || c.empty() || t.rank() == 0)
                                   return Val{};
                                 const Val v = c.get(t);
                                 c = {};
                                 return v;
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
    const auto out_types = substitute(n.result_types(), copier_.dims);
    Sink sink(*this, n);
    n.op().transpose.fn({&n.op(), attr.get(), x, {}, in_types, out_types}, ct, sink);
  }

  Context& ctx_;
  const Graph& g_;
  ir::Copier copier_;
  std::vector<bool> linear_;
  std::vector<Cotangent> ct_;
  Masked result_;
};

}  // namespace

const Masked& transpose_graph(Context& ctx, const GraphRef& g, const Mask& linear, const Mask& ct,
                              const Mask& force, const Mask& acc) {
  const Key key = Key() << g << linear << ct << force << acc;
  if (const Masked* known = ctx.transpose.find(key)) return *known;
  return ctx.transpose.put(key, g, Pass(ctx, g, linear, ct, force, acc).take());
}

}  // namespace tlaloc::transform
