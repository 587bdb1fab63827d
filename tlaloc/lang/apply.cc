#include "tlaloc/lang/apply.h"

#include <algorithm>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/lang/nan_mode.h"

namespace tlaloc::core {

bool any_traced(std::span<const Ref> xs) {
  return std::ranges::any_of(xs, [](const Ref& x) { return node(x).traced(); });
}

ir::OriginRef origin_of(const OpCall& call) {
  ir::Origin origin;
  origin.place = place_of(call.where);
  // Reading debug information is slow, so an operator's line is looked up only when it may be
  // asked for later, when the stack no longer holds it.
  if (!origin.place.known() && nan_mode()) origin.place = find_user_place();
  return std::make_shared<const ir::Origin>(std::move(origin));
}

runtime::Backend& default_backend() {
  // Only the interpreter looks at every value.
  return nan_mode() ? interp::interp_backend() : cpu::cpu_backend();
}

runtime::RunResult run_graph(ir::GraphRef g, std::vector<HostArray> args, runtime::DimValues dims) {
  std::vector<runtime::Buffer> inputs;
  for (HostArray& a : args) inputs.push_back(default_backend().upload(std::move(a)));
  runtime::RunOptions options;
  options.donate.assign(inputs.size(), true);  // the buffers; an array that others hold stays
  options.dims = std::move(dims);
  options.check_nan = nan_mode();
  return default_backend().compile(std::move(g), {.run_once = true})->run(std::move(inputs), options);
}

std::vector<Ref> as_refs(const ir::Graph& g, const runtime::RunResult& r,
                         std::vector<std::vector<AxisLabel>> labels) {
  labels.resize(r.outputs.size());
  std::vector<Ref> out;
  for (std::size_t k = 0; k < r.outputs.size(); ++k) {
    out.push_back(make_concrete(r.outputs[k].to_host(), std::move(labels[k]),
                                g.type(g.results()[k]).encoding()));
  }
  return out;
}

namespace {

std::vector<Ref> record(const OpCall& call, std::span<const Ref> operands,
                        std::vector<std::vector<AxisLabel>>& labels, const EmitAll& emit) {
  const ir::Vals in = as_vals(operands);
  const ir::OriginScope origin(origin_of(call));
  const ir::Vals vals = emit(in);
  labels.resize(vals.size());
  std::vector<Ref> out;
  for (std::size_t k = 0; k < vals.size(); ++k) {
    out.push_back(make_traced(vals[k], std::move(labels[k])));
  }
  return out;
}

std::vector<Ref> evaluate(const OpCall& call, std::span<const Ref> operands,
                          std::vector<std::vector<AxisLabel>>& labels, const EmitAll& emit) {
  ir::GraphRef g;
  {
    ir::Builder builder(call.name);
    const ir::OriginScope origin(origin_of(call));
    ir::Vals in;
    for (const Ref& x : operands) in.push_back(builder.param(node(x).type));
    g = builder.build(emit(in));
  }
  std::vector<HostArray> args;
  for (const Ref& x : operands) args.push_back(node(x).array);
  const runtime::RunResult run = run_graph(g, std::move(args));
  return as_refs(*g, run, std::move(labels));
}

}  // namespace

std::vector<Ref> apply_all(const OpCall& call, std::span<const Ref> operands,
                           std::vector<std::vector<AxisLabel>> labels, const EmitAll& emit) {
  return with_place(call.where, [&] {
    return any_traced(operands) ? record(call, operands, labels, emit)
                                : evaluate(call, operands, labels, emit);
  });
}

Ref apply(const OpCall& call, std::span<const Ref> operands, std::vector<AxisLabel> labels,
          const Emit& emit) {
  std::vector<std::vector<AxisLabel>> all;
  all.push_back(std::move(labels));
  return std::move(apply_all(call, operands, std::move(all),
                             [&](std::span<const ir::Val> in) { return ir::Vals{emit(in)}; })[0]);
}

void require_same(const OpCall& call, const char* code, const Ref& a, int i, const Ref& b, int j) {
  const Node &x = node(a), &y = node(b);
  const ir::Dim p = x.type.dim(i), q = y.type.dim(j);
  if (p == q) return;
  const auto meeting = [&] {
    return describe_axis(x.label(i), p) + " meets " + describe_axis(y.label(j), q);
  };
  const ir::Truth t =
      x.traced() || y.traced() ? ir::Builder::current().equal_here(p, q) : ir::equal(p, q);
  if (t == ir::Truth::yes) return;
  if (t == ir::Truth::no) {
    throw UserError({code, call.name, meeting() + ": " + describe(a) + " and " + describe(b),
                     "make the two sizes equal", user_place(call.where)});
  }
  ir::Builder::current().require(
      {ir::Constraint::Kind::equal, p, q,
       std::string(call.name) + ": " + meeting() + ": " + describe(a) + " and " + describe(b),
       user_place(call.where)});
}

}  // namespace tlaloc::core
