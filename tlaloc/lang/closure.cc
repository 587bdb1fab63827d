#include "tlaloc/lang/closure.h"

#include <algorithm>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {

Closure trace_closure(const Function& f, const Leaves& args, Signature signature) {
  Closure c;
  c.signature = std::move(signature);
  Trace trace(f.name);
  std::vector<Ref> params;
  for (std::size_t i = 0; i < c.signature.types.size(); ++i) {
    params.push_back(
        trace.param(c.signature.types[i], c.signature.labels[i], args.data().path_text(i)));
  }
  f.call(f.self, with_values(args, params), c.results);
  require_values(c.results, f.name);
  std::vector<ir::Label> labels;
  const Leaves::Data& d = c.results.data();
  for (std::size_t i = 0; i < d.values.size(); ++i) {
    c.result_labels.push_back(node(d.values[i]).labels);
    labels.push_back(label_of(d.path_text(i), c.result_labels.back()));
  }
  Trace::Closed closed = trace.close(d.values, std::move(labels));
  c.graph = std::move(closed.graph);
  c.captures = std::move(closed.captures);
  // The traced values must not outlive the trace.
  c.results = with_values(c.results, std::vector<Ref>(d.values.size()));
  return c;
}

void require_dense(const Leaves& args, const transform::Mask& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!wanted[i] || !node(args[static_cast<int>(i)]).type.encoding()) continue;
    throw UserError({"TL-GRAD-003",
                     "grad",
                     args.data().path(i) + " is quantized: such weights carry no tangent",
                     "capture it, or pass it in an argument that argnums leaves out",
                     {}});
  }
}

transform::Mask leaves_of(const Leaves& args, std::span<const int> argnums) {
  transform::Mask mask(static_cast<std::size_t>(args.size()), false);
  for (int k : argnums) {
    for (int i = args.argument_begin(k); i < args.argument_end(k); ++i) {
      mask[static_cast<std::size_t>(i)] = true;
    }
  }
  return mask;
}

DimBinding::DimBinding(const Signature& signature, std::span<const Ref> args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    const ir::Type param = signature.types[i];
    if (!param.has_symbols()) continue;
    for (int k = 0; k < param.rank(); ++k) {
      const auto s = param.dim(k).as_symbol();
      if (s && std::ranges::find(signature.own, *s) != signature.own.end() && !map_.find(*s)) {
        map_.set(*s, node(args[i]).type.dim(k));
      }
    }
  }
}
std::vector<ir::Dim> DimBinding::entry(const ir::Graph& g) const {
  std::vector<ir::Dim> r;
  for (ir::Symbol s : g.dims()) r.push_back(map_.get(s));
  return r;
}
runtime::DimValues DimBinding::sizes(const ir::Graph& g) const {
  runtime::DimValues r;
  for (ir::Symbol s : g.dims()) {
    const ir::Dim* d = map_.find(s);
    if (d && d->is_constant()) r.emplace(s.id(), d->constant());
  }
  return r;
}

CallResult call_graph(const OpCall& call, const ir::GraphRef& g, std::span<const Ref> args,
                      const Captures& captures, const DimBinding& dims,
                      std::vector<std::vector<AxisLabel>> labels, std::size_t captures_at) {
  captures_at = std::min(captures_at, args.size());
  return with_place(call.where, [&] {
    CallResult r;
    if (captures.lifted.empty() && !any_traced(args) && !any_traced(captures.captured)) {
      std::vector<HostArray> arrays;
      const auto add = [&](std::span<const Ref> xs) {
        for (const Ref& x : xs) arrays.push_back(node(x).array());
      };
      add(args.first(captures_at));
      add(captures.captured);
      add(args.subspan(captures_at));
      const runtime::RunResult run = run_graph(g, std::move(arrays), dims.sizes(*g));
      arrays.clear();
      for (const runtime::Buffer& b : run.outputs) arrays.push_back(b.to_host());
      r.values = as_refs(*g, std::move(arrays), labels);
      r.result_dims.assign(run.result_dims.begin(), run.result_dims.end());
      return r;
    }
    ir::Vals in = as_vals(args.first(captures_at));
    for (const Ref& x : captures.captured) in.push_back(as_val(x));
    in.insert(in.end(), captures.lifted.begin(), captures.lifted.end());
    for (const Ref& x : args.subspan(captures_at)) in.push_back(as_val(x));
    const ir::OriginScope origin(origin_of(call));
    const std::vector<ir::Dim> entry = dims.entry(*g);
    const ir::Inlined inlined = ir::inline_graph(*g, in, entry);
    labels.resize(inlined.results.size());
    for (std::size_t k = 0; k < inlined.results.size(); ++k) {
      r.values.push_back(make_traced(inlined.results[k], std::move(labels[k])));
    }
    for (ir::Dim d : g->result_dims()) r.result_dims.push_back(d.substitute(inlined.dims));
    return r;
  });
}

std::vector<Ref> call_closure(const OpCall& call, const Closure& c, const ir::GraphRef& g,
                              const Leaves& args, std::vector<std::vector<AxisLabel>> labels) {
  const auto& values = args.data().values;
  return call_graph(call, g, values, c.captures, DimBinding(c.signature, values), std::move(labels))
      .values;
}

Ref zeros_like(const Ref& x) {
  const Node& n = node(x);
  if (n.traced()) return make_traced(ops::zeros_like(as_val(x)), n.labels);
  if (const auto& there = n.device()) {
    return make_concrete(HostArray(there->buffer().dtype(), there->buffer().extents()), n.labels);
  }
  return make_concrete(HostArray(n.array().dtype(), n.array().extents()), n.labels);
}

}  // namespace tlaloc::core
