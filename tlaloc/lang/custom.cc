// Calls with a derivative of their own: remat, custom_jvp, custom_vjp.
#include <array>
#include <string>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/regions.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {
namespace {

using Extras = MergedRegions::Extras;

[[noreturn]] void fail(const OpCall& call, const char* code, std::string message,
                       std::string hint) {
  throw UserError({code, call.name, std::move(message), std::move(hint), user_place(call.where)});
}

/// Trailing operands that the function captured: a derivative of its own can't account for them, so
/// the transforms refuse one that moves.
ir::CallParam lifted(const MergedRegions& regions) {
  return {"lifted", {static_cast<std::int64_t>(regions.extra_count())}, {}};
}

std::vector<ir::Type> differentiable_only(std::span<const ir::Type> types) {
  std::vector<ir::Type> r;
  for (ir::Type t : types) {
    if (is_differentiable(t.dtype())) r.push_back(t);
  }
  return r;
}

/// A value for each leaf: `some` for the differentiable ones of `types`, zeros for the others.
std::vector<Ref> filled(std::span<const ir::Type> types, std::span<const Ref> some) {
  std::vector<Ref> all;
  std::size_t next = 0;
  for (ir::Type t : types) {
    all.push_back(is_differentiable(t.dtype()) ? some[next++] : make_traced(ops::zeros(t)));
  }
  return all;
}

void require_structure(const OpCall& call, const char* what, std::size_t have, std::size_t want) {
  if (have == want) return;
  fail(call, "TL-CUSTOM-002",
       std::string(what) + " has " + std::to_string(have) + " leaves, needed are " +
           std::to_string(want),
       "return the structure that the rule's declaration says");
}

}  // namespace

Leaves remat(const Function& f, const Leaves& args, const char* policy, Where where) {
  const OpCall call{"remat", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    const std::string kept = policy ? policy : "";
    if (kept != "nothing" && kept != "everything" && kept != "dots" &&
        !kept.starts_with("names:")) {
      fail(call, "TL-REMAT-001", "unknown policy '" + kept + "'",
           "use nothing, everything, dots or names:a,b");
    }
    const auto& values = args.data().values;
    const std::array closures{trace_closure(f, args, exact_signature(args))};
    if (!in_trace(values, closures)) {
      return with_values(closures[0].results, call_closure(call, closures[0], closures[0].graph,
                                                           args, closures[0].result_labels));
    }
    require_known_sizes(call, closures[0]);
    auto out = staged(call, values, true, closures[0].result_labels, [&](std::span<const Ref> in) {
      const MergedRegions regions(closures, in);
      ir::CallAttrs attrs;
      attrs.name = f.name;
      attrs.kind = ir::CallKind::remat;
      attrs.policy = kept;
      const ir::GraphRef g = regions.graph(0, Extras::last);
      return ir::emit_call(std::move(attrs), regions.operands(), {region_of(g)}, g->result_types())
          .out;
    });
    return with_values(closures[0].results, std::move(out));
  });
}

Ref checkpoint_name(const Ref& x, const char* name, AxesSpec axes, Where where) {
  return apply({"checkpoint_name", where}, std::array{x}, axes, [&](std::span<const ir::Val> in) {
    ir::Origin origin = *ir::OriginScope::current();
    origin.name = name;
    const ir::OriginScope scope(std::move(origin));
    // A node of its own, so that the name is this value's only.
    return ops::optimization_barrier(in[0]);
  });
}

namespace {

/// x…, dx of the differentiable x… -> y…, dy of the differentiable y…, over the user's rule, which
/// sees every leaf.
struct JvpRule {
  const OpCall& call;
  const Function& rule;
  const Signature& signature;
  std::vector<ir::Type> result_types;

  static void run(void* self, const Leaves& in, Leaves& out) {
    const auto& r = *static_cast<JvpRule*>(self);
    const auto& values = in.data().values;
    const std::size_t n = r.signature.types.size();
    std::vector<Ref> all(values.begin(), values.begin() + std::ptrdiff_t(n));
    const auto tangents = filled(r.signature.types, std::span(values).subspan(n));
    all.insert(all.end(), tangents.begin(), tangents.end());
    Leaves args;
    for (const Ref& x : all) args.add(x);
    Leaves results;
    r.rule.call(r.rule.self, args, results);
    const std::size_t m = r.result_types.size();
    require_structure(r.call, "the jvp rule's result", static_cast<std::size_t>(results.size()),
                      2 * m);
    for (std::size_t k = 0; k < 2 * m; ++k) {
      if (k < m || is_differentiable(r.result_types[k - m].dtype())) {
        out.add(results[static_cast<int>(k)]);
      }
    }
  }
};

}  // namespace

Leaves custom_jvp(const Function& f, const Function& rule, const Leaves& args, Where where) {
  const OpCall call{"custom_jvp", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    const auto& values = args.data().values;
    const Signature signature = exact_signature(args);
    Closure plain = trace_closure(f, args, signature);
    if (!in_trace(values, std::span(&plain, 1))) {
      return with_values(plain.results,
                         call_closure(call, plain, plain.graph, args, plain.result_labels));
    }
    require_known_sizes(call, plain);
    const std::vector<ir::Type> results = plain.graph->result_types();
    Signature doubled = signature;
    std::vector<Ref> tangents;
    for (std::size_t i = 0; i < signature.types.size(); ++i) {
      if (!is_differentiable(signature.types[i].dtype())) continue;
      doubled.types.push_back(signature.types[i]);
      doubled.labels.push_back(signature.labels[i]);
      tangents.push_back(values[i]);
    }
    JvpRule adapter{call, rule, signature, results};
    const std::array closures{std::move(plain),
                              trace_closure({&JvpRule::run, &adapter, rule.type, rule.name},
                                            joined(args, tangents), doubled)};
    auto out = staged(call, values, true, closures[0].result_labels, [&](std::span<const Ref> in) {
      const MergedRegions regions(closures, in);
      // x…, extras…, dx…, d extras…: the rule has no use for the last.
      const std::size_t n = signature.types.size();
      std::vector<ir::ParamSpec> params;
      for (std::size_t i = 0; i < n; ++i) params.push_back({static_cast<std::uint32_t>(i), {}});
      const auto extras = regions.extra_params(1);
      params.insert(params.end(), extras.begin(), extras.end());
      for (std::size_t i = n; i < doubled.types.size(); ++i) {
        params.push_back({static_cast<std::uint32_t>(i), {}});
      }
      for (ir::Val e : regions.extras()) {
        if (is_differentiable(e.dtype())) params.push_back({ir::kNoNode, e.type()});
      }
      std::vector<ir::Type> types = results;
      const auto dy = differentiable_only(results);
      types.insert(types.end(), dy.begin(), dy.end());
      const ir::Graph& traced = *closures[1].graph;
      const ir::GraphRef rule_graph = conformed(
          call, "TL-CUSTOM-002", ir::with_signature(traced, params, traced.results()), types,
          [&](std::size_t k) {
            return k < results.size() ? "the rule's value of " + closures[0].results.data().path(k)
                                      : std::string("the rule's tangent");
          });
      ir::CallAttrs attrs;
      attrs.name = f.name;
      attrs.kind = ir::CallKind::custom_jvp;
      attrs.params.push_back(lifted(regions));
      return ir::emit_call(std::move(attrs), regions.operands(),
                           {region_of(regions.graph(0, Extras::last)), region_of(rule_graph)},
                           results)
          .out;
    });
    return with_values(closures[0].results, std::move(out));
  });
}

namespace {

/// residuals…, ct of the differentiable y… -> ct of the differentiable x…, over the user's rule.
struct VjpRule {
  const OpCall& call;
  const Function& backward;
  const Signature& signature;
  std::vector<ir::Type> result_types;
  std::size_t residuals;

  static void run(void* self, const Leaves& in, Leaves& out) {
    const auto& r = *static_cast<VjpRule*>(self);
    const auto& values = in.data().values;
    Leaves args;
    for (std::size_t k = 0; k < r.residuals; ++k) args.add(values[k]);
    for (const Ref& ct : filled(r.result_types, std::span(values).subspan(r.residuals))) {
      args.add(ct);
    }
    Leaves results;
    r.backward.call(r.backward.self, args, results);
    require_structure(r.call, "the backward rule's result",
                      static_cast<std::size_t>(results.size()), r.signature.types.size());
    for (std::size_t k = 0; k < r.signature.types.size(); ++k) {
      if (!is_differentiable(r.signature.types[k].dtype())) continue;
      const Ref& ct = results[static_cast<int>(k)];
      // No cotangent is a zero one.
      out.add(ct ? ct : make_traced(ops::zeros(r.signature.types[k])));
    }
  }
};

/// The backward closure as the region wants it: residuals…, extras…, ct y… -> ct x…, ct extras….
ir::GraphRef backward_region(const MergedRegions& regions, std::size_t n_residuals) {
  const ir::Graph& g = *regions.closure(2).graph;
  std::vector<ir::ParamSpec> params;
  for (std::size_t i = 0; i < n_residuals; ++i)
    params.push_back({static_cast<std::uint32_t>(i), {}});
  const auto extras = regions.extra_params(2);
  params.insert(params.end(), extras.begin(), extras.end());
  for (std::size_t i = n_residuals; i < regions.closure(2).argument_count(); ++i) {
    params.push_back({static_cast<std::uint32_t>(i), {}});
  }
  const ir::GraphRef ordered = ir::with_signature(g, params, g.results());
  ir::Builder b(g.name());
  ir::Vals in;
  std::vector<ir::Dim> entry;
  for (ir::Type t : ordered->param_types()) in.push_back(b.param(t));
  for (ir::Symbol s : ordered->dims()) entry.emplace_back(s);
  ir::Vals out = ir::inline_graph(*ordered, in, entry).results;
  for (ir::Val e : regions.extras()) {
    if (is_differentiable(e.dtype())) out.push_back(ops::zeros(e.type()));
  }
  ir::Builder::Close close;
  close.params = in;
  return b.build(out, std::move(close));
}

}  // namespace

Leaves custom_vjp(const Function& f, const Function& forward, const Function& backward,
                  const Leaves& args, Where where) {
  const OpCall call{"custom_vjp", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    const auto& values = args.data().values;
    const Signature signature = exact_signature(args);
    Closure plain = trace_closure(f, args, signature);
    if (!in_trace(values, std::span(&plain, 1))) {
      return with_values(plain.results,
                         call_closure(call, plain, plain.graph, args, plain.result_labels));
    }
    require_known_sizes(call, plain);
    const std::vector<ir::Type> results = plain.graph->result_types();
    Closure fwd = trace_closure(forward, args, signature);
    require_known_sizes(call, fwd);
    if (fwd.result_labels.size() < results.size()) {
      require_structure(call, "the forward rule's result", fwd.result_labels.size(),
                        results.size());
    }
    // Parameters of the backward rule: residuals, then a cotangent per differentiable result.
    const std::vector<ir::Type> fwd_types = fwd.graph->result_types();
    Signature of_backward;
    of_backward.types.assign(fwd_types.begin() + std::ptrdiff_t(results.size()), fwd_types.end());
    const std::size_t n_residuals = of_backward.types.size();
    const auto cts = differentiable_only(results);
    of_backward.types.insert(of_backward.types.end(), cts.begin(), cts.end());
    of_backward.labels.resize(of_backward.types.size());
    Leaves placeholders;
    for (std::size_t k = 0; k < of_backward.types.size(); ++k) placeholders.add(Ref());
    VjpRule adapter{call, backward, signature, results, n_residuals};
    Closure bwd = trace_closure({&VjpRule::run, &adapter, backward.type, backward.name},
                                placeholders, of_backward);
    const std::array closures{std::move(plain), std::move(fwd), std::move(bwd)};

    auto out = staged(call, values, true, closures[0].result_labels, [&](std::span<const Ref> in) {
      const MergedRegions regions(closures, in);
      // The extras are residuals too, as the backward rule may read them.
      const ir::GraphRef fwd_graph = [&] {
        const ir::GraphRef g = conformed(
            call, "TL-CUSTOM-002", regions.graph(1, Extras::last), results, [&](std::size_t k) {
              return "the forward rule's " + closures[1].results.data().path(k);
            });
        std::vector<ir::ParamSpec> same;
        std::vector<ir::ValueId> outs(g->results().begin(), g->results().end());
        for (std::uint32_t i = 0; i < g->param_count(); ++i) {
          same.push_back({i, {}});
          if (i >= signature.types.size()) outs.push_back(i);
        }
        return ir::with_signature(*g, same, outs);
      }();
      std::vector<ir::Type> ct_types = differentiable_only(signature.types);
      const ir::GraphRef bwd_graph =
          conformed(call, "TL-CUSTOM-002", backward_region(regions, n_residuals), ct_types,
                    [&](std::size_t) { return std::string("the backward rule's cotangent"); });
      ir::CallAttrs attrs;
      attrs.name = f.name;
      attrs.kind = ir::CallKind::custom_vjp;
      attrs.params.push_back(lifted(regions));
      return ir::emit_call(std::move(attrs), regions.operands(),
                           {region_of(regions.graph(0, Extras::last)), region_of(fwd_graph),
                            region_of(bwd_graph)},
                           results)
          .out;
    });
    return with_values(closures[0].results, std::move(out));
  });
}

Ref constant(const Ref& x) {
  const Node& n = node(x);
  if (n.traced() || n.baked) return x;
  auto* baked = new Node;
  Ref r(baked);
  baked->share(n);
  baked->type = n.type;
  baked->labels = n.labels;
  baked->baked = true;
  return r;
}

}  // namespace tlaloc::core
