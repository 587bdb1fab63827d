#include "tlaloc/lang/regions.h"

#include <algorithm>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {

MergedRegions::MergedRegions(std::span<const Closure> closures, std::span<const Ref> args)
    : closures_(closures), operands_(as_vals(args)) {
  for (const Closure& c : closures_) {
    std::vector<std::uint32_t> params;
    auto next = static_cast<std::uint32_t>(c.argument_count());
    const auto add = [&](ir::Val v) {
      const auto at = static_cast<std::size_t>(std::ranges::find(extras_, v) - extras_.begin());
      if (at == extras_.size()) extras_.push_back(v);
      params.resize(std::max(params.size(), at + 1), ir::kNoNode);
      params[at] = next++;
    };
    for (const Ref& x : c.captures.captured) add(as_val(x));
    // Lifted values may belong to a trace further out: in the trace at hand they are its own.
    for (ir::Val v : c.captures.lifted) add(ir::Builder::current().lift(v));
    param_of_extra_.push_back(std::move(params));
  }
  operands_.insert(operands_.end(), extras_.begin(), extras_.end());
}

std::vector<ir::ParamSpec> MergedRegions::extra_params(std::size_t k) const {
  const std::vector<std::uint32_t>& params = param_of_extra_[k];
  std::vector<ir::ParamSpec> specs;
  for (std::size_t e = 0; e < extras_.size(); ++e) {
    const std::uint32_t index = e < params.size() ? params[e] : ir::kNoNode;
    specs.push_back({index, index == ir::kNoNode ? extras_[e].type() : ir::Type()});
  }
  return specs;
}

ir::GraphRef MergedRegions::graph(std::size_t k, Extras where) const {
  std::vector<ir::ParamSpec> params = extra_params(k);
  std::vector<ir::ParamSpec> own;
  for (std::size_t i = 0; i < closures_[k].argument_count(); ++i) {
    own.push_back({static_cast<std::uint32_t>(i), {}});
  }
  params.insert(where == Extras::first ? params.end() : params.begin(), own.begin(), own.end());
  const ir::Graph& g = *closures_[k].graph;
  return ir::with_signature(g, params, g.results());
}

ir::GraphRef conformed(const OpCall& call, const char* code, const ir::GraphRef& g,
                       std::span<const ir::Type> types,
                       const std::function<std::string(std::size_t)>& what) {
  const std::vector<ir::Type> have = g->result_types();
  internal_check(have.size() >= types.size(), "conformed: too few results");
  bool same = true;
  for (std::size_t k = 0; k < types.size(); ++k) {
    same = same && have[k] == types[k];
    const auto refuse = [&] {
      throw UserError({code, call.name,
                       what(k) + ": " + have[k].to_string() + " is not " + types[k].to_string(),
                       "convert or reshape it to the type that is due", user_place(call.where)});
    };
    if (have[k].dtype() != types[k].dtype() || have[k].rank() != types[k].rank()) refuse();
    for (int i = 0; i < types[k].rank(); ++i) {
      if (ir::equal(have[k].dim(i), types[k].dim(i)) == ir::Truth::no) refuse();
    }
  }
  if (same) return g;
  ir::Builder b(g->name());
  ir::Vals params;
  std::vector<ir::Dim> entry;
  for (std::size_t i = 0; i < g->param_count(); ++i) {
    params.push_back(b.param(g->type(static_cast<ir::ValueId>(i)), g->param_label(i)));
  }
  for (ir::Symbol s : g->dims()) entry.emplace_back(s);
  const ir::Inlined in = ir::inline_graph(*g, params, entry);
  ir::Vals out = in.results;
  for (std::size_t k = 0; k < types.size(); ++k) {
    for (int i = 0; i < types[k].rank(); ++i) {
      b.require({ir::Constraint::Kind::equal, have[k].dim(i).substitute(in.dims), types[k].dim(i),
                 std::string(call.name) + ": " + what(k) + ", axis " + std::to_string(i),
                 user_place(call.where)});
    }
    out[k] = ops::reshape(out[k], types[k].shape());
  }
  ir::Builder::Close close;
  for (ir::Dim d : g->result_dims()) close.result_dims.push_back(d.substitute(in.dims));
  close.params = params;
  return b.build(out, std::move(close));
}

void require_known_sizes(const OpCall& call, const Closure& c) {
  const ir::Graph& g = *c.graph;
  const auto computed = [&](ir::Symbol s) {
    return std::ranges::find(g.dims(), s) == g.dims().end();
  };
  for (std::size_t k = 0; k < g.results().size(); ++k) {
    const ir::Type t = g.type(g.results()[k]);
    for (ir::Dim d : t.shape()) {
      if (!d.mentions(computed)) continue;
      throw UserError({"TL-TRACE-005", call.name,
                       c.results.data().path(k) + " is " +
                           describe(t.dtype(), c.result_labels[k], t.shape()) +
                           ", whose size is known only after the loop that makes it has run",
                       "reduce it inside the function", user_place(call.where)});
    }
  }
}

bool in_trace(std::span<const Ref> args, std::span<const Closure> closures) {
  return any_traced(args) ||
         std::ranges::any_of(closures, [](const Closure& c) { return !c.captures.lifted.empty(); });
}

std::vector<Ref> staged(const OpCall& call, std::span<const Ref> args, bool traced,
                        std::vector<std::vector<AxisLabel>> labels,
                        const std::function<ir::Vals(std::span<const Ref>)>& emit) {
  const auto wrapped = [&](std::span<const Ref> in) {
    const ir::OriginScope origin(origin_of(call));
    const ir::Vals vals = emit(in);
    std::vector<Ref> out;
    for (std::size_t k = 0; k < vals.size(); ++k) {
      out.push_back(make_traced(vals[k], k < labels.size() ? labels[k] : std::vector<AxisLabel>()));
    }
    return out;
  };
  return with_place(call.where, [&] {
    if (traced) return wrapped(args);
    Trace::Closed closed;
    {
      Trace trace(call.name);
      std::vector<Ref> params;
      for (const Ref& x : args) params.push_back(trace.param(node(x).type, node(x).labels));
      closed = trace.close(wrapped(params));
    }
    return call_graph(call, closed.graph, args, closed.captures, {}, std::move(labels)).values;
  });
}

}  // namespace tlaloc::core
