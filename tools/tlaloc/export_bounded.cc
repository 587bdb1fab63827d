#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <string_view>

#include "tlaloc/base/error.h"
#include "tlaloc/bounded/export.h"
#include "tools/tlaloc/commands.h"
#include "tools/tlaloc/module.h"

namespace tlaloc::command {
namespace {

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw UserError({"TL-INPUT-001", "tlaloc", message, hint, {}});
}

struct Named {
  std::string name, value;
};
Named split(const std::string& text, const char* option, const char* example) {
  const std::size_t equals = text.find('=');
  if (equals != text.npos) return {text.substr(0, equals), text.substr(equals + 1)};
  refuse(fmt::format("{} '{}' names nothing", option, text), fmt::format("write {}", example));
}

template <class T>
T number(std::string_view text, const char* option) {
  T x{};
  const auto r = std::from_chars(text.data(), text.data() + text.size(), x);
  if (r.ec == std::errc() && r.ptr == text.data() + text.size()) return x;
  refuse(fmt::format("{}: '{}' is no number", option, text), "write one, such as n=64");
}

ir::Symbol symbol_named(const ir::Graph& g, const std::string& name) {
  std::string names;
  for (ir::Symbol s : g.dims()) {
    if (s.name() == name) return s;
    names += " " + s.name();
  }
  throw UserError({"TL-SHAPE-004",
                   "tlaloc",
                   "there is no size '" + name + "'",
                   names.empty() ? "all sizes are known" : "the sizes are" + names,
                   {}});
}
std::size_t param_named(const ir::Graph& g, const std::string& name) {
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    if (param_name(g, k) == name || std::to_string(k) == name) return k;
  }
  refuse("there is no parameter '" + name + "'", "`tlaloc inspect` prints what there is");
}
bounded::BoundRequest& bound_named(std::vector<bounded::BoundRequest>& bounds, const ir::Graph& g,
                                   const std::string& name) {
  const ir::Symbol s = symbol_named(g, name);
  const auto found = std::ranges::find(bounds, s, &bounded::BoundRequest::symbol);
  if (found == bounds.end()) refuse("the size " + name + " has no bound", "give --bound for it");
  return *found;
}

}  // namespace

void export_bounded(const ExportBoundedArguments& a) {
  const ir::GraphRef g = read_function(a).graph;
  bounded::ExportOptions o;
  o.dims = read_dims(*g, a.dims);
  o.recorded_trips = a.recorded_trips;
  o.tolerance = a.tolerance;
  for (const std::string& text : a.bounds) {
    const Named n = split(text, "--bound", "n=64 or n=2:64");
    bounded::BoundRequest r{.symbol = symbol_named(*g, n.name)};
    const std::size_t colon = n.value.find(':');
    if (colon != n.value.npos) {
      r.least = number<std::int64_t>(std::string_view(n.value).substr(0, colon), "--bound");
    }
    r.most = number<std::int64_t>(
        std::string_view(n.value).substr(colon == n.value.npos ? 0 : colon + 1), "--bound");
    if (std::ranges::find(o.bounds, r.symbol, &bounded::BoundRequest::symbol) != o.bounds.end()) {
      refuse("the size " + n.name + " has two bounds", "give one");
    }
    o.bounds.push_back(std::move(r));
  }
  for (const std::string& text : a.buckets) {
    const Named n = split(text, "--buckets", "n=16,32,64");
    bounded::BoundRequest& r = bound_named(o.bounds, *g, n.name);
    for (std::size_t at = 0; at <= n.value.size();) {
      const std::size_t end = std::min(n.value.find(',', at), n.value.size());
      r.buckets.push_back(
          number<std::int64_t>(std::string_view(n.value).substr(at, end - at), "--buckets"));
      at = end + 1;
    }
  }
  o.padding.assign(g->param_count(), 0);
  for (const std::string& text : a.padding) {
    const Named n = split(text, "--padding", "x=1");
    o.padding[param_named(*g, n.name)] = number<double>(n.value, "--padding");
  }
  const auto valid = [&](const std::vector<std::string>& texts, const char* option,
                         bounded::Role role) {
    for (const std::string& text : texts) {
      const Named n = split(text, option, "mask=n");
      o.valid.push_back({param_named(*g, n.name), role, symbol_named(*g, n.value)});
    }
  };
  valid(a.valid_masks, "--valid-mask", bounded::Role::valid_mask);
  valid(a.valid_lengths, "--valid-length", bounded::Role::valid_length);
  for (const std::string& name : a.donated) o.donated.push_back(param_named(*g, name));
  const bounded::Exported exported = bounded::export_program(g, o);
  exported.write(a.output);
  const bounded::Manifest& m = exported.manifest;
  fmt::print(std::cout,
             "{}: {} {}, padding changes nothing at {} sizes (largest difference {:.2g})\n",
             a.output, m.bodies.size(), m.bodies.size() == 1 ? "body" : "bodies",
             m.check.sizes.size(), m.check.largest_difference);
}

}  // namespace tlaloc::command
