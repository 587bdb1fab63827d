#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/ops/constants.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/sharding.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/stablehlo/mesh_text.h"
#include "tools/tlaloc/module.h"
#include "tools/tlaloc/report_text.h"
#include "tools/tlaloc/terminal_text.h"

namespace tlaloc::command {
namespace {

namespace json = boost::json;

/// What a graph is made of, its regions included.
struct Contents {
  std::map<std::string, std::int64_t> ops;
  std::int64_t constants = 0, constant_bytes = 0;
  std::map<std::string, std::string> meshes;
};
void add_contents(const ir::Graph& g, Contents& c) {
  for (std::uint32_t k = 0; k < g.node_count(); ++k) {
    const ir::Node n = g.node(k);
    ++c.ops[std::string(n.op().name)];
    if (&n.op() == &ops::rows::Constant) {
      ++c.constants;
      c.constant_bytes += static_cast<std::int64_t>(n.as<ops::ConstantAttrs>().value.value.bytes());
    }
    if (const auto* a = ir::attr_if<ops::ShardingAttrs>(n.attr().get())) {
      const ir::Mesh& mesh = a->sharding.mesh;
      c.meshes[mesh.name] = stablehlo::mesh_text(mesh);
    }
    if (const auto* a = ir::attr_if<ir::ManualAttrs>(n.attr().get())) {
      c.meshes[a->mesh.name] = stablehlo::mesh_text(a->mesh);
    }
    for (const ir::Region& r : n.regions()) add_contents(*r.graph, c);
  }
}

struct Cost {
  double flops = 0;
  std::int64_t bytes = 0, peak = 0, kernels = 0;
  bool partial = false;  ///< some kernels' sizes are known to a run only
};
/// For sizes that are given; nothing where one is missing.
std::optional<Cost> cost_of(const ir::GraphRef& g, const runtime::DimValues& dims) {
  if (dims.size() != g->dims().size()) return std::nullopt;
  const runtime::Report r =
      cpu::cpu_backend().compile(g, {.run_once = true})->bind({})->explain({.dims = dims});
  Cost c;
  for (const runtime::KernelReport& k : r.kernels) {
    c.partial |= !k.flops || !k.bytes_read || !k.bytes_written;
    c.flops += k.flops.value_or(0);
    c.bytes += k.bytes_read.value_or(0) + k.bytes_written.value_or(0);
  }
  c.peak = r.predicted_peak;
  c.kernels = static_cast<std::int64_t>(r.kernels.size());
  return c;
}

std::string size_text(ir::Symbol s) {
  const ir::SymbolFacts& f = s.facts();
  std::string t = f.name + " >= " + std::to_string(f.lower);
  if (f.upper != std::numeric_limits<std::int64_t>::max()) t += ", <= " + std::to_string(f.upper);
  if (f.multiple_of != 1) t += ", a multiple of " + std::to_string(f.multiple_of);
  return t;
}

std::string signature_text(ir::Type t, const ir::Label& label, std::size_t k,
                           const std::string& layout) {
  std::string s = label.name.empty() ? std::to_string(k) : plain(label.name);
  s += ": " + t.to_string();
  if (!label.axes.empty()) {
    std::string axes;
    for (const std::string& a : label.axes) axes += (axes.empty() ? "" : ", ") + plain(a);
    s += "  {" + axes + "}";
  }
  if (!layout.empty()) s += "  " + plain(layout);
  return s;
}

/// As Shardy writes it; empty where a value lies nowhere in particular.
std::string layout_text(const std::optional<ir::Sharding>& s) {
  return s ? "<" + stablehlo::sharding_text(*s, s->mesh.name) + ">" : "";
}

/// Names and counts, the most frequent first.
std::vector<std::pair<std::string, std::int64_t>> by_count(const Contents& c) {
  std::vector<std::pair<std::string, std::int64_t>> r(c.ops.begin(), c.ops.end());
  std::ranges::stable_sort(r, std::greater{}, &std::pair<std::string, std::int64_t>::second);
  return r;
}

void print_function(const stablehlo::ImportedFunction& f, const runtime::DimValues& dims) {
  const ir::Graph& g = *f.graph;
  print_line("function", "@" + plain(f.name) + (f.is_public ? "" : ", private"));
  for (ir::Symbol s : g.dims()) print_line("  size", plain(size_text(s)));
  Contents c;
  add_contents(g, c);
  for (const auto& [mesh, text] : c.meshes) print_line("  mesh", plain("@" + mesh + " " + text));
  const stablehlo::Layouts layouts = stablehlo::layouts_of(g);
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    print_line("  parameter", signature_text(g.type(static_cast<ir::ValueId>(k)), g.param_label(k),
                                             k, layout_text(layouts.params[k])));
  }
  for (std::size_t k = 0; k < f.result_count; ++k) {
    print_line("  result", signature_text(g.type(g.results()[k]), g.result_label(k), k,
                                          layout_text(layouts.results[k])));
  }
  std::int64_t total = 0;
  std::string ops;
  for (const auto& [op, count] : by_count(c)) {
    total += count;
    ops += fmt::format(", {} {}", op, count);
  }
  print_line("  ops", fmt::format("{}{}", total, ops.empty() ? "" : ":" + ops.substr(1)));
  print_line("  constants", fmt::format("{}, {}", c.constants, bytes_text(c.constant_bytes)));
  for (const ir::Constraint& constraint : g.constraints()) {
    print_line("  requires",
               plain(constraint.a.to_string() +
                     (constraint.kind == ir::Constraint::Kind::equal ? " = " : " <= ") +
                     constraint.b.to_string() + ": " + constraint.what));
  }
  if (!f.checks.empty()) print_line("  checks", std::to_string(f.checks.size()));
  if (const auto cost = cost_of(f.graph, dims)) {
    print_line("  cost",
               fmt::format("{} flops, {} read and written, {} of memory, {} kernels on cpu{}",
                           count_text(static_cast<std::int64_t>(cost->flops)),
                           bytes_text(cost->bytes), bytes_text(cost->peak), cost->kernels,
                           cost->partial ? ", and what only a run can tell" : ""));
  } else {
    print_line("  cost", "depends on sizes: give them by --dim");
  }
}

json::object json_of(const stablehlo::ImportedFunction& f, const runtime::DimValues& dims) {
  const ir::Graph& g = *f.graph;
  auto value = [](ir::Type t, const ir::Label& label, const std::optional<ir::Sharding>& layout) {
    return json::object{{"name", label.name},
                        {"sharding", layout ? json::value(layout_text(layout)) : nullptr},
                        {"dtype", name(t.dtype())},
                        {"type", t.to_string()},
                        {"axes", json::array(label.axes.begin(), label.axes.end())}};
  };
  json::array sizes, params, results;
  const stablehlo::Layouts layouts = stablehlo::layouts_of(g);
  for (ir::Symbol s : g.dims()) sizes.push_back(json::string(s.name()));
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    params.push_back(
        value(g.type(static_cast<ir::ValueId>(k)), g.param_label(k), layouts.params[k]));
  }
  for (std::size_t k = 0; k < f.result_count; ++k) {
    results.push_back(value(g.type(g.results()[k]), g.result_label(k), layouts.results[k]));
  }
  Contents c;
  add_contents(g, c);
  json::object ops;
  for (const auto& [op, count] : by_count(c)) ops[op] = count;
  json::object meshes;
  for (const auto& [mesh, text] : c.meshes) meshes[mesh] = text;
  json::object r{{"name", f.name},
                 {"meshes", meshes},
                 {"public", f.is_public},
                 {"sizes", sizes},
                 {"parameters", params},
                 {"results", results},
                 {"ops", ops},
                 {"constants", c.constants},
                 {"constant_bytes", c.constant_bytes},
                 {"constraints", g.constraints().size()},
                 {"checks", f.checks.size()},
                 {"cost", nullptr}};
  if (const auto cost = cost_of(f.graph, dims)) {
    r["cost"] = {{"flops", cost->flops},
                 {"bytes", cost->bytes},
                 {"memory", cost->peak},
                 {"kernels", cost->kernels},
                 {"partial", cost->partial}};
  }
  return r;
}

}  // namespace

void inspect_module(const InspectArguments& a) {
  json::array all;
  for (const stablehlo::ImportedModule& m : read_modules(a.module)) {
    json::array functions;
    if (!a.json) print_line("module", m.name.empty() ? "without a name" : "@" + plain(m.name));
    for (const stablehlo::ImportedFunction& f : m.functions) {
      // Private ones are part of those that call them.
      if (a.function.empty() ? !f.is_public : f.name != a.function) continue;
      const runtime::DimValues dims = read_dims(*f.graph, a.dims);
      if (a.json) {
        functions.push_back(json_of(f, dims));
      } else {
        print_function(f, dims);
      }
    }
    all.push_back(json::object{{"name", m.name}, {"functions", functions}});
  }
  if (a.json)
    std::cout << json::serialize(json::object{{"path", a.module}, {"modules", all}}) << "\n";
}

}  // namespace tlaloc::command
