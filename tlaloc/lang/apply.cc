#include "tlaloc/lang/apply.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/lang/explain.h"
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
  if (!origin.place.known() && (nan_mode() || explaining())) origin.place = find_user_place();
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
  return default_backend()
      .compile(std::move(g), {.run_once = true})
      ->run(std::move(inputs), options);
}

std::vector<Ref> as_refs(const ir::Graph& g, std::vector<HostArray> arrays,
                         std::span<const std::vector<AxisLabel>> labels) {
  std::vector<Ref> out;
  out.reserve(arrays.size());
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    out.push_back(make_concrete(std::move(arrays[k]),
                                k < labels.size() ? labels[k] : std::vector<AxisLabel>(),
                                g.type(g.results()[k]).encoding()));
  }
  return out;
}

namespace {

ir::Vals record(const OpCall& call, std::span<const Ref> operands, EmitAll emit) {
  const ir::Vals in = as_vals(operands);
  const ir::OriginScope origin(origin_of(call));
  return emit(in);
}

EagerRun compile(const OpCall& call, std::span<const Ref> operands, ir::OriginRef place,
                 EmitAll emit) {
  ir::Builder builder(call.name);
  const ir::OriginScope origin(std::move(place));
  ir::Vals in;
  for (const Ref& x : operands) in.push_back(builder.param(node(x).type));
  const ir::GraphRef g = builder.build(emit(in));
  // One operation has a precompiled kernel: making code for it would not come back.
  return std::make_shared<const Eager>(
      Eager{g, default_backend().compile(g, {.run_once = true})->bind({})});
}

/// On more elements than this the arithmetic costs more than compiling, and the memory that a
/// compiled graph keeps from run to run would add up.
constexpr std::int64_t kMostElementsKept = 1 << 16;

/// True if all values of g, those of its regions included, have so few elements together. Subtracts
/// them from `left`.
bool is_small(const ir::Graph& g, std::int64_t& left) {
  for (ir::ValueId v = 0; v < g.value_count(); ++v) {
    const ir::Dim n = g.type(v).elements();
    if (!n.is_constant() || n.constant() > left) return false;
    left -= n.constant();
  }
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    for (const ir::Region& r : g.node(i).regions()) {
      if (!is_small(*r.graph, left)) return false;
    }
  }
  return true;
}

EagerRun compiled(const OpCall& call, const void* site, std::span<const Ref> operands,
                  EmitAll emit) {
  std::array<ir::Type, 8> types;
  // With NaNs checked, errors of a run name the place that was compiled.
  if (!call.variant.known() || operands.size() > types.size() || nan_mode()) {
    return compile(call, operands, origin_of(call), emit);
  }
  for (std::size_t k = 0; k < operands.size(); ++k) types[k] = node(operands[k]).type;
  const EagerKey key{call.name, site, call.variant, std::span(types).first(operands.size())};
  EagerRun eager = find_compiled(key);
  if (eager) return eager;
  // Without a place, which differs from call to call: an error gets the caller's.
  eager = compile(call, operands, nullptr, emit);
  std::int64_t left = kMostElementsKept;
  if (is_small(*eager->graph, left)) remember_compiled(key, eager);
  return eager;
}

std::vector<HostArray> run(const Eager& eager, std::span<const Ref> operands) {
  std::vector<const HostArray*> inputs;
  inputs.reserve(operands.size());
  for (const Ref& x : operands) inputs.push_back(&node(x).array());
  runtime::RunOptions options;
  options.check_nan = nan_mode();
  return eager.run->run_host(inputs, options);
}

}  // namespace

std::vector<Ref> apply_all(const OpCall& call, std::span<const Ref> operands,
                           std::vector<std::vector<AxisLabel>> labels, EmitAll emit) {
  return with_place(call.where, [&] {
    if (!any_traced(operands)) {
      const EagerRun eager = compiled(call, emit.site(), operands, emit);
      return as_refs(*eager->graph, run(*eager, operands), labels);
    }
    const ir::Vals vals = record(call, operands, emit);
    labels.resize(vals.size());
    std::vector<Ref> out;
    for (std::size_t k = 0; k < vals.size(); ++k) {
      out.push_back(make_traced(vals[k], std::move(labels[k])));
    }
    return out;
  });
}

Ref apply(const OpCall& call, std::span<const Ref> operands, std::vector<AxisLabel> labels,
          Emit emit) {
  const auto all = [&](std::span<const ir::Val> in) { return ir::Vals{emit(in)}; };
  return with_place(call.where, [&] {
    if (any_traced(operands)) {
      return make_traced(record(call, operands, all)[0], std::move(labels));
    }
    const EagerRun eager = compiled(call, emit.site(), operands, all);
    const ir::Graph& g = *eager->graph;
    return make_concrete(std::move(run(*eager, operands)[0]), std::move(labels),
                         g.type(g.results()[0]).encoding());
  });
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
