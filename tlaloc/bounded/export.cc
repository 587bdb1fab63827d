#include "tlaloc/bounded/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "tlaloc/base/digest.h"
#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/bounded/check.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/transform/padded.h"

namespace tlaloc::bounded {
namespace {

[[noreturn]] void refuse(const ir::Graph& g, const std::string& message, const std::string& hint,
                         const Place& place = {}) {
  throw UserError({"TL-BOUNDED-001", g.name(), message, hint, place});
}

/// The position of the bound that is `symbol`.
std::optional<std::size_t> bound_of(const ExportOptions& options, ir::Symbol symbol) {
  for (std::size_t k = 0; k < options.bounds.size(); ++k) {
    if (options.bounds[k].symbol == symbol) return k;
  }
  return {};
}
bool has_bound(const ExportOptions& options, ir::Dim d) {
  return d.mentions([&](ir::Symbol s) { return bound_of(options, s).has_value(); });
}

/// Every entry dim by those that have a bound: itself, a number, or what g requires it to equal.
ir::DimMap known_sizes(const ir::Graph& g, const ExportOptions& options) {
  ir::DimMap map;
  for (ir::Symbol s : g.dims()) {
    const auto known = options.dims.find(s.id());
    if (bound_of(options, s)) map.set(s, s);
    if (known != options.dims.end()) map.set(s, known->second);
  }
  const auto is_known = [&](ir::Dim d) {
    return !d.mentions([&](ir::Symbol s) { return !map.find(s); });
  };
  for (bool more = true; more;) {
    more = false;
    for (const ir::Constraint& c : g.constraints()) {
      if (c.kind != ir::Constraint::Kind::equal) continue;
      for (const auto& [a, b] : {std::pair(c.a, c.b), std::pair(c.b, c.a)}) {
        if (!a.as_symbol() || is_known(a) || !is_known(b)) continue;
        map.set(*a.as_symbol(), b.substitute(map));
        more = true;
      }
    }
  }
  return map;
}

/// g on its bounded sizes alone, which are its entry dims in the order of the bounds.
ir::GraphRef with_known_sizes(const ir::Graph& g, const ExportOptions& options) {
  if (!g.result_dims().empty()) refuse(g, "a result has a size that only a run knows", "");
  const ir::DimMap map = known_sizes(g, options);
  std::vector<ir::Dim> sizes;
  for (ir::Symbol s : g.dims()) {
    if (!map.find(s)) {
      throw UserError({"TL-SHAPE-004",
                       g.name(),
                       "nothing gives the size " + s.name(),
                       "give it a bound or a size",
                       {}});
    }
    sizes.push_back(map.get(s));
  }
  ir::Builder b(g.name());
  ir::Vals params;
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    params.push_back(
        b.param(g.type(static_cast<ir::ValueId>(k)).substitute(map), g.param_label(k)));
  }
  const ir::Vals out = ir::inline_graph(g, params, sizes).results;
  ir::Builder::Close close;
  for (std::size_t k = 0; k < out.size(); ++k) close.result_labels.push_back(g.result_label(k));
  for (const BoundRequest& r : options.bounds) close.dims.push_back(r.symbol);
  return b.build(out, std::move(close));
}

/// What g requires of sizes holds for all within the bounds.
void check_constraints(const ir::Graph& g, const ExportOptions& options) {
  for (const ir::Constraint& c : g.constraints()) {
    std::set<ir::Symbol> symbols;
    for (const ir::Dim d : {c.a, c.b}) {
      d.each_symbol([&](ir::Symbol s) { symbols.insert(s); });
    }
    std::erase_if(symbols, [&](ir::Symbol s) { return !bound_of(options, s); });
    if (symbols.empty()) continue;
    const std::string what =
        c.what + ": " + c.a.to_string() +
        (c.kind == ir::Constraint::Kind::equal ? " is not " : " is not at most ") + c.b.to_string();
    if (symbols.size() > 1) {
      refuse(g, what + " for all sizes within the bounds", "give both axes one name", c.place);
    }
    const BoundRequest& r = options.bounds[*bound_of(options, *symbols.begin())];
    if (r.most - r.least > (std::int64_t{1} << 20)) {
      refuse(g, what + " perhaps, which is not looked for among so many sizes", "lower the bound",
             c.place);
    }
    for (std::int64_t n = r.least; n <= r.most; ++n) {
      const auto size = [&](ir::Symbol) { return n; };
      const std::int64_t a = c.a.evaluate(size), b = c.b.evaluate(size);
      if (c.kind == ir::Constraint::Kind::equal ? a == b : a <= b) continue;
      refuse(g, what + " where " + r.symbol.name() + " is " + std::to_string(n),
             "export sizes that it takes: raise the least one, or lower the bound", c.place);
    }
  }
}

/// The program for padded arrays.
ir::GraphRef padded_graph(const ir::GraphRef& g, const std::vector<ir::Symbol>& axes) {
  if (axes.empty()) return g;
  try {
    return transform::padded(g, axes);
  } catch (const UserError& e) {
    if (e.code() == "TL-BOUNDED-001") throw;
    // The transform speaks of lanes, of which there is one here.
    throw UserError(
        {"TL-BOUNDED-001", e.info().op,
         "padding would change the result: it can't be told apart here (" + e.info().message + ")",
         "write it without this operation along a bounded axis, or take a valid mask "
         "as an argument and use it",
         e.info().place});
  }
}

/// The names of bounds are those of their symbols, told apart where they are the same.
std::vector<Bound> read_bounds(const ir::Graph& g, const ExportOptions& options) {
  if (options.bounds.size() > kMaxBounds) {
    refuse(g, std::to_string(options.bounds.size()) + " sizes have bounds",
           "bound at most " + std::to_string(kMaxBounds) + ", and give the others one size");
  }
  std::vector<Bound> r;
  std::set<std::string> names;
  for (const BoundRequest& request : options.bounds) {
    Bound b{request.symbol.name(), request.least, request.most, request.buckets};
    for (int k = 2; !names.insert(b.name).second; ++k) {
      b.name = request.symbol.name() + "_" + std::to_string(k);
    }
    if (b.buckets.empty()) b.buckets = default_buckets(b);
    check_buckets(b);
    r.push_back(std::move(b));
  }
  return r;
}

Value describe(const ir::Graph& g, const ExportOptions& options, ir::Type t,
               const stablehlo::TensorType& emitted, std::string name) {
  Value v{std::move(name), emitted.dtype, {}};
  for (std::size_t i = 0; i < emitted.rank(); ++i) {
    Axis axis{.size = emitted.extent(i)};
    const ir::Dim d = t.dim(static_cast<int>(i));
    if (has_bound(options, d)) {
      axis = {.bound = d.as_symbol() ? bound_of(options, *d.as_symbol()) : std::nullopt};
      if (!axis.bound) {
        refuse(g,
               v.name + " has the size " + d.to_string() + ", which is computed of a bounded one",
               "take and return arrays of the sizes themselves");
      }
    }
    v.axes.push_back(axis);
  }
  return v;
}

std::string file_name(const std::vector<std::int64_t>& sizes) {
  return fmt::format("body_{}.mlir", fmt::join(sizes, "_"));
}

using Aliases = std::vector<std::pair<std::size_t, std::size_t>>;

/// (param, result), by the types of the graph.
Aliases pair_donated(const ir::Graph& g, const ExportOptions& options) {
  const std::vector<ir::Type> results = g.result_types();
  std::vector<bool> taken(results.size());
  std::set<std::size_t> seen;
  Aliases pairs;
  for (const std::size_t param : options.donated) {
    const std::string what = "parameter " + std::to_string(param);
    if (param >= g.param_count()) refuse(g, what + " is donated, and is not there", "");
    if (!seen.insert(param).second) refuse(g, what + " is donated twice", "name it once");
    if (std::ranges::find(options.valid, param, &ValidRequest::param) != options.valid.end()) {
      refuse(g, what + " is donated, and is made for each call", "donate arguments of callers");
    }
    const ir::Type t = g.type(static_cast<ir::ValueId>(param));
    std::size_t k = 0;
    while (k < results.size() && (taken[k] || results[k] != t)) ++k;
    if (k == results.size()) {
      refuse(g, what + " is donated, and no result of type " + t.to_string() + " is left for it",
             "donate what the function returns anew");
    }
    taken[k] = true;
    pairs.emplace_back(param, k);
  }
  return pairs;
}

/// What the runner is to fill in must be what it can.
void check_valid(const ir::Graph& g, const ExportOptions& options) {
  for (const ValidRequest& v : options.valid) {
    const bool there = v.param < g.param_count() && bound_of(options, v.symbol);
    const ir::Type t = there ? g.type(static_cast<ir::ValueId>(v.param)) : ir::Type();
    const bool fits =
        there && (v.role == Role::valid_length ? t.rank() == 0 && t.dtype() != DType::boolean
                                               : t.rank() == 1 && t.dim(0) == ir::Dim(v.symbol));
    if (!fits) {
      refuse(g,
             "parameter " + std::to_string(v.param) + " is no valid " +
                 (v.role == Role::valid_length ? "length" : "mask") + " of " + v.symbol.name(),
             "a length is a number, and a mask an array with that axis alone");
    }
    const std::int64_t most = options.bounds[*bound_of(options, v.symbol)].most;
    if (v.role == Role::valid_length && most > largest_length(t.dtype())) {
      refuse(
          g,
          fmt::format("parameter {} is the valid length of {}, up to {}, and {} holds those up "
                      "to {}",
                      v.param, v.symbol.name(), most, name(t.dtype()), largest_length(t.dtype())),
          "take the length as i32 or i64, or lower the bound");
    }
  }
}

/// The parameter k of the padded graph; `length_of` is the bound of a length that the export added.
Input describe_input(const ir::Graph& g, const ExportOptions& options, std::size_t k, Value value,
                     std::optional<std::size_t> length_of, const Aliases& donated) {
  Input input{std::move(value)};
  for (const auto& [param, result] : donated) {
    if (param == k) input.result = result;
  }
  if (length_of) {
    input.role = Role::valid_length;
    input.bound = length_of;
    return input;
  }
  for (const ValidRequest& v : options.valid) {
    if (v.param != k) continue;
    input.role = v.role;
    input.bound = bound_of(options, v.symbol);
  }
  const double padding = k < options.padding.size() ? options.padding[k] : 0;
  if (input.role == Role::data) {
    if (!can_pad(input.dtype, padding)) {
      refuse(g,
             fmt::format("{} is of {}, which can't be padded with {}", input.name,
                         name(input.dtype), padding),
             "give a number that the type holds; float types hold -inf and inf too");
    }
    input.padding = padding;
  } else if (padding != 0) {
    refuse(g, input.name + " has a padding, and is made for each call", "leave its padding out");
  }
  return input;
}

/// What is written can be opened, and says the same.
void check_manifest(const ir::Graph& g, const Manifest& m) {
  const auto read = [&] {
    try {
      return parse_manifest(m.json(), kManifestFile);
    } catch (const UserError& e) {
      refuse(g, "its manifest could not be read again: " + e.info().message,
             "change what the message names");
    }
  };
  internal_check(read() == m, "a manifest reads as another one");
}

}  // namespace

void Exported::write(const std::string& folder) const {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    throw EnvironmentError({"TL-FILE-001",
                            "bounded",
                            "can't make " + folder + ": " + error.message(),
                            "choose another folder",
                            {}});
  }
  const std::filesystem::path at(folder);
  const std::string json = manifest.json();
  std::vector<FileContent> files;
  const auto add = [&](const std::string& name, const std::string& text) {
    files.push_back({(at / name).string(), std::as_bytes(std::span(text))});
  };
  for (std::size_t k = 0; k < bodies.size(); ++k) add(manifest.bodies[k].file, *bodies[k]);
  add(kManifestFile, json);
  write_files("bounded", files);
}

Program Exported::program(runtime::Backend& backend) const {
  return Program(manifest, [texts = bodies](std::size_t k) { return *texts[k]; }, backend);
}

Exported export_program(const ir::GraphRef& graph, const ExportOptions& options) {
  Exported r;
  Manifest& m = r.manifest;
  m.name = graph->name();
  m.bounds = read_bounds(*graph, options);
  const std::size_t count = count_bodies(m.bounds);
  if (!std::isfinite(options.tolerance) || options.tolerance < 0) {
    refuse(*graph, fmt::format("the tolerance is {}", options.tolerance),
           "give a finite one, or 0 for that of the element types");
  }
  check_valid(*graph, options);
  const ir::GraphRef exact = with_known_sizes(*graph, options);
  check_constraints(*exact, options);

  // Axes that the function does not mask itself.
  std::vector<ir::Symbol> masked;
  std::vector<std::size_t> masked_bounds;
  for (std::size_t k = 0; k < options.bounds.size(); ++k) {
    const ir::Symbol s = options.bounds[k].symbol;
    if (std::ranges::find(options.valid, s, &ValidRequest::symbol) != options.valid.end()) continue;
    masked.push_back(s);
    masked_bounds.push_back(k);
  }
  const Aliases donated = pair_donated(*exact, options);
  const ir::GraphRef padded = padded_graph(exact, masked);
  for (std::size_t k = 0; k < count; ++k) {
    const std::vector<std::int64_t> sizes = sizes_of_body(m.bounds, k);
    std::vector<std::int64_t> in_order;
    for (ir::Symbol s : padded->dims()) in_order.push_back(sizes[*bound_of(options, s)]);
    stablehlo::Emitted e = stablehlo::emit(
        *padded, in_order, {.recorded_trips = options.recorded_trips, .aliases = donated});
    if (k == 0) {
      if (!e.lengths.empty()) refuse(*exact, "a result has a size that only a run knows", "");
      m.exceeded = e.exceeded.has_value();
      for (std::size_t i = 0; i < padded->param_count(); ++i) {
        const ir::Type t = padded->type(static_cast<ir::ValueId>(i));
        const bool named = i < options.names.size() && !options.names[i].empty();
        const std::string& name = named ? options.names[i] : padded->param_label(i).name;
        std::optional<std::size_t> length_of;
        if (i >= exact->param_count()) length_of = masked_bounds[i - exact->param_count()];
        m.inputs.push_back(describe_input(
            *exact, options, i,
            describe(*exact, options, t, e.params[i], name.empty() ? std::to_string(i) : name),
            length_of, donated));
      }
      const std::vector<ir::Type> types = padded->result_types();
      for (std::size_t i = 0; i < types.size(); ++i) {
        m.results.push_back(
            describe(*exact, options, types[i], e.results[i], exact->result_label(i).name));
      }
    }
    m.bodies.push_back({sizes, file_name(sizes), to_hex(sha256(e.text))});
    r.bodies.push_back(std::make_shared<const std::string>(std::move(e.text)));
  }
  for (std::size_t k = 0; k < m.bounds.size(); ++k) {
    const bool told = std::ranges::any_of(m.inputs, [&](const Input& i) {
      return i.role == Role::data &&
             std::ranges::any_of(i.axes, [&](const Axis& a) { return a.bound == k; });
    });
    if (!told) refuse(*exact, "no argument has an axis of the size " + m.bounds[k].name, "");
  }
  check_padding(exact, options, r);
  check_manifest(*exact, m);
  return r;
}

}  // namespace tlaloc::bounded
