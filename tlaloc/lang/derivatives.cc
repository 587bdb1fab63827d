// value_and_grad and jvp of functions.
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/closure.h"

namespace tlaloc::core {
namespace {

using transform::Mask;

/// Marks those of `mask` whose type carries tangents, padded by the captures, which stay constant.
Mask active_params(const Closure& c, const Mask& mask) {
  Mask active(c.graph->param_count(), false);
  for (std::size_t i = 0; i < mask.size(); ++i) {
    active[i] = mask[i] && carries_tangents(c.signature.types[i]);
  }
  return active;
}

void require_scalar_loss(const OpCall& call, const Closure& c) {
  const Leaves::Data& d = c.results.data();
  if (!d.values.empty()) {
    const ir::Type t = c.graph->type(c.graph->results()[0]);
    if (t.rank() == 0 && is_differentiable(t.dtype())) return;
    throw UserError({"TL-GRAD-001", call.name,
                     "the loss is not a floating scalar: " + d.path(0) + " is " +
                         describe(t.dtype(), c.result_labels[0], t.shape()),
                     "reduce it, for example with mean; for other results use vjp or jacrev",
                     user_place(call.where)});
  }
  throw UserError({"TL-GRAD-001", call.name, "the function returns nothing to differentiate",
                   "return a floating scalar", user_place(call.where)});
}

}  // namespace

Leaves value_and_grad(const Function& f, const Leaves& args, std::span<const int> argnums,
                      Where where) {
  const OpCall call{"grad", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    require_agreement(call, args);
    const Closure c = trace_closure(f, args, signature_of(args));
    require_scalar_loss(call, c);
    const Mask wanted = leaves_of(args, argnums);
    require_dense(args, wanted);
    const Mask active = active_params(c, wanted);
    auto labels = c.result_labels;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (active[i]) labels.push_back(c.signature.labels[i]);
    }
    const ir::GraphRef g = transform::value_and_grad(c.graph, active);
    std::vector<Ref> out = call_closure(call, c, g, args, std::move(labels));
    const std::size_t n = c.result_labels.size();
    std::size_t next = n;
    std::vector<Ref> grads;
    // Leaves of each argument, in the order that argnums asks for.
    std::vector<Ref> by_leaf(wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (active[i])
        by_leaf[i] = std::move(out[next++]);
      else if (wanted[i])
        by_leaf[i] = zeros_like(args[static_cast<int>(i)]);
    }
    for (int k : argnums) {
      for (int i = args.argument_begin(k); i < args.argument_end(k); ++i) {
        grads.push_back(by_leaf[static_cast<std::size_t>(i)]);
      }
    }
    out.resize(n);
    return joined(with_values(c.results, std::move(out)), grads);
  });
}

Leaves jvp(const Function& f, const Leaves& args, const Leaves& tangents, Where where) {
  const OpCall call{"jvp", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    if (tangents.size() != args.size()) {
      throw UserError({"TL-TREE-002", call.name,
                       std::to_string(tangents.size()) + " tangents for " +
                           std::to_string(args.size()) + " values",
                       "give a tangent of the same structure for each argument",
                       user_place(where)});
    }
    require_agreement(call, args);
    Mask moving;
    std::vector<Ref> all = args.data().values;
    for (int i = 0; i < args.size(); ++i) {
      const Ref& t = tangents[i];
      moving.push_back(t && is_differentiable(dtype(args[i])));
      if (!moving.back()) continue;
      if (dtype(t) != dtype(args[i]) || rank(t) != rank(args[i])) {
        throw UserError({"TL-DTYPE-001", call.name,
                         "the tangent of " + args.data().path(static_cast<std::size_t>(i)) +
                             " is " + describe(t) + ", the value is " + describe(args[i]),
                         "a tangent has the type of its value", user_place(where)});
      }
      for (int k = 0; k < rank(t); ++k) {
        require_same(call, "TL-SHAPE-001", args[i], k, t, k);
      }
      all.push_back(t);
    }
    require_dense(args, moving);
    // A traced tangent makes the arguments part of the trace too.
    const Closure c =
        trace_closure(f, args, any_traced(all) ? exact_signature(args) : open_signature(args));
    const Mask active = active_params(c, moving);
    auto labels = c.result_labels;
    const Mask diff = transform::differentiable_results(*c.graph);
    for (std::size_t k = 0; k < diff.size(); ++k) {
      if (diff[k]) labels.push_back(c.result_labels[k]);
    }
    // Params of the jvp: arguments, captures, tangents.
    const ir::GraphRef g = transform::jvp(c.graph, active);
    std::vector<Ref> out =
        call_graph(call, g, all, c.captures, DimBinding(c.signature, args.data().values),
                   std::move(labels), c.argument_count())
            .values;
    std::vector<Ref> tangent;
    std::size_t next = diff.size();
    for (std::size_t k = 0; k < diff.size(); ++k) {
      tangent.push_back(diff[k] ? std::move(out[next++]) : zeros_like(out[k]));
    }
    out.resize(diff.size());
    return joined(with_values(c.results, std::move(out)), tangent);
  });
}

}  // namespace tlaloc::core
