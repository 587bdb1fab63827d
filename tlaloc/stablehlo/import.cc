#include "tlaloc/stablehlo/import.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "tlaloc/ops/control.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_sharding.h"
#include "tlaloc/stablehlo/mesh_text.h"
#include "tlaloc/stablehlo/raise.h"
#include "tlaloc/transform/dce.h"

namespace tlaloc::stablehlo {
namespace {

/// Operations of a function, were all its calls written out: who compiles it may write them out.
constexpr std::size_t kMaxWeight = std::size_t{1} << 24;

}  // namespace

ir::GraphRef computation(const ImportedFunction& f) {
  if (f.checks.empty()) return f.graph;
  transform::Mask keep(f.graph->results().size());
  std::fill_n(keep.begin(), f.result_count, true);
  transform::Context ctx;
  return transform::dce_graph(ctx, f.graph, keep);
}

const ImportedFunction* ImportedModule::find(std::string_view wanted) const {
  for (const ImportedFunction& f : functions) {
    if (f.name == wanted) return &f;
  }
  return nullptr;
}
const ImportedFunction& ImportedModule::main() const {
  if (const ImportedFunction* f = find("main")) return *f;
  const ImportedFunction* only = nullptr;
  std::string names;
  for (const ImportedFunction& f : functions) {
    if (!f.is_public) continue;
    names += (only ? ", @" : "@") + f.name;
    only = &f;
  }
  if (!only || names.find(',') != std::string::npos) {
    throw UserError({"TL-HLO-003", "import",
                     only ? "the module has no @main, and several public functions: " + names
                          : "the module has no public function",
                     "call the function to run @main",
                     functions.empty() ? Place{} : functions[0].place});
  }
  return *only;
}

ImportedModule import_stablehlo(std::string_view text, const std::string& name_for_errors,
                                int first_line) {
  const Tree tree = parse_tree(text, name_for_errors, first_line);
  return Importer(tree, false).run();
}
ImportedModule import_each_function(std::string_view text, const std::string& name_for_errors,
                                    int first_line) {
  const Tree tree = parse_tree(text, name_for_errors, first_line, true);
  return Importer(tree, true).run();
}

namespace {

/// Whether there is more than blanks and comments.
bool says_something(std::string_view text) {
  while (true) {
    const std::size_t first = text.find_first_not_of(" \n\r\t");
    if (first == std::string_view::npos) return false;
    text.remove_prefix(first);
    if (!text.starts_with("//")) return true;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

}  // namespace

std::vector<ModuleText> split_modules(std::string_view text) {
  constexpr std::string_view kLine = "// -----";
  std::vector<ModuleText> parts;
  std::size_t start = 0;
  int line = 1, start_line = 1;
  auto add = [&](std::size_t end) {
    const std::string_view part = text.substr(start, end - start);
    if (says_something(part)) parts.push_back({part, start_line});
  };
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (text.substr(at).starts_with(kLine)) {
      add(at);
      start = end;
      start_line = line + 1;
    }
    at = end;
  }
  add(text.size());
  return parts;
}

// ---- functions ----

namespace {

void each_callee(const Block& b, const std::function<void(std::string_view, const Operation&)>& f) {
  for (const Operation& op : b.operations) {
    if (op.name == "func.call" || op.name == "stablehlo.composite") {
      const Attribute* a = op.find(op.name == "func.call" ? "callee" : "decomposition");
      if (a) f(a->text, op);
    }
    if (const Attribute* named = op.find("called_computations")) {
      for (const Attribute& a : named->items) f(a.text, op);
    }
    for (const Block& r : op.regions) each_callee(r, f);
  }
}

bool has_any(const Block& b, std::span<const std::string_view> names) {
  return std::ranges::any_of(b.operations, [&](const Operation& op) {
    return std::ranges::find(names, op.name) != names.end() ||
           std::ranges::any_of(op.regions, [&](const Block& r) { return has_any(r, names); });
  });
}
constexpr std::string_view kCollectives[] = {
    "stablehlo.all_reduce",  "stablehlo.all_gather", "stablehlo.reduce_scatter",
    "stablehlo.replica_id",  "stablehlo.all_to_all", "stablehlo.collective_permute",
    "stablehlo.partition_id"};
/// Those whose result depends on which device it is.
constexpr auto kAsk = std::span(kCollectives).last<3>();

}  // namespace

template <class Body>
void Importer::of_function(std::size_t function, const Body& body) {
  if (!each_) return body();
  try {
    body();
  } catch (const UserError& e) {
    refused_[function] = e.what();
  }
}

void Importer::order_functions() {
  const std::size_t n = tree_.functions.size();
  for (const Function& f : tree_.functions) refused_.push_back(f.refusal);
  std::vector<std::vector<std::size_t>> callees(n);
  inlined_.resize(n);
  asks_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    inlined_[i] = tree_.functions[i].is_symbolic;
    of_function(i, [&] {
      each_callee(tree_.functions[i].body, [&](std::string_view name, const Operation& op) {
        const auto known = tree_.function_index.find(name);
        if (known == tree_.function_index.end()) {
          source().fail(op.at, "there is no function @" + std::string(name));
        }
        callees[i].push_back(known->second);
      });
    });
  }
  // Callees first, without recursion. 1: begun, 2: done.
  std::vector<std::uint8_t> state(n);
  std::vector<bool> meets(n);
  for (std::size_t root = 0; root < n; ++root) {
    if (state[root]) continue;
    std::vector<std::pair<std::size_t, std::size_t>> stack{{root, 0}};
    state[root] = 1;
    while (!stack.empty()) {
      auto& [f, next] = stack.back();
      if (next < callees[f].size()) {
        const std::size_t callee = callees[f][next++];
        if (state[callee] == 1) {
          of_function(callee, [&] {
            source().unsupported(tree_.functions[callee].at,
                                 "@" + std::string(tree_.functions[callee].name),
                                 "functions that call themselves are not supported");
          });
        }
        if (state[callee] == 0) {
          state[callee] = 1;
          stack.emplace_back(callee, 0);
        }
        continue;
      }
      state[f] = 2;
      order_.push_back(f);
      // Which devices meet in a function depends on who calls it.
      meets[f] = has_any(tree_.functions[f].body, kCollectives);
      asks_[f] = has_any(tree_.functions[f].body, kAsk);
      for (std::size_t callee : callees[f]) {
        meets[f] = meets[f] || meets[callee];
        asks_[f] = asks_[f] || asks_[callee];
      }
      inlined_[f] = inlined_[f] || meets[f];
      stack.pop_back();
    }
  }
}

bool Importer::asks_for_device(const Block& b) const {
  bool asks = has_any(b, kAsk);
  each_callee(b, [&](std::string_view name, const Operation&) {
    asks = asks || asks_[tree_.function_index.at(name)];
  });
  return asks;
}

ImportedModule Importer::run() {
  order_functions();
  ImportedModule m;
  m.name = tree_.name;
  built_.resize(tree_.functions.size());
  std::vector<ImportedFunction> functions(tree_.functions.size());
  for (std::size_t f : order_) {
    if (is_inlined(f) && !tree_.functions[f].is_public && refused_[f].empty()) continue;
    if (refused_[f].empty()) of_function(f, [&] { build(f, &functions[f]); });
    if (refused_[f].empty()) continue;
    const Function& refused = tree_.functions[f];
    functions[f] = {.name = std::string(refused.name),
                    .graph = {},
                    .checks = {},
                    .is_public = refused.is_public,
                    .place = source().place(refused.at),
                    .refusal = refused_[f]};
  }
  for (ImportedFunction& f : functions) {
    if (f.graph || !f.refusal.empty()) m.functions.push_back(std::move(f));
  }
  return m;
}

void Importer::check_callee(const Site& site, std::size_t function) const {
  if (!refused_[function].empty()) {
    site.unsupported("it calls @" + std::string(tree_.functions[function].name) +
                     ", which is refused");
  }
}

namespace {

/// What the function asserts of its params' sizes at its top, by param and axis: JAX's are 1 and
/// more. Other sizes follow from that more often.
std::map<std::pair<ValueIndex, std::int64_t>, std::int64_t> asserted_sizes(const Source& source,
                                                                           const Function& f) {
  std::map<std::pair<ValueIndex, std::int64_t>, std::int64_t> r;
  if (!f.is_symbolic) return r;
  for (const Operation& op : f.body.operations) {
    const Attribute* target = op.find("call_target_name");
    if (!target || target->text != "shape_assertion" || op.operands.empty()) continue;
    const Operation* c = f.definitions[op.operands[0]];
    if (!c || c->name != "stablehlo.compare" || c->operands.size() != 2 ||
        Site::word_of(c->find("comparison_direction")) != "GE") {
      continue;
    }
    const Operation* size = f.definitions[c->operands[0]];
    const Operation* least = f.definitions[c->operands[1]];
    while (size && size->name == "stablehlo.convert" && size->operands.size() == 1) {
      size = f.definitions[size->operands[0]];
    }
    if (!size || size->name != "stablehlo.get_dimension_size" || size->operands.size() != 1 ||
        !least || least->name != "stablehlo.constant") {
      continue;
    }
    const Attribute *axis = size->find({"dim", "dimension"}), *value = least->find("value");
    if (!axis || !value || !f.type(c->operands[1])->extents.empty()) continue;
    const std::vector<std::int64_t> numbers = dense_integers(source, *value);
    if (numbers.size() != 1) continue;  // the operation itself is refused in its turn
    const std::int64_t n = numbers[0];
    if (n > 0 && n < ir::Dim::kMax) r[{size->operands[0], axis->integer}] = n;
  }
  return r;
}

}  // namespace

void Importer::build(std::size_t index, ImportedFunction* out) {
  const Function& f = tree_.functions[index];
  out->name = f.name;
  out->is_public = f.is_public;
  out->place = source().place(f.at);
  depth_ = deepest_ = 0;
  weight_ = 0;
  ir::Builder b(std::string(f.name));
  Scope scope{.function = f};
  scope.checks = &out->checks;
  ir::Vals params;
  const auto lowest = asserted_sizes(source(), f);
  for (ValueIndex k = 0; k < f.body.param_count; ++k) {
    std::vector<ir::Dim> shape;
    for (std::int64_t n : f.types[k]->extents) {
      if (n == TensorSpec::kUnknown) {
        const auto least = lowest.find({k, static_cast<std::int64_t>(shape.size())});
        ir::SymbolFacts facts{.name = "d" + std::to_string(k)};
        if (least != lowest.end()) facts.lower = least->second;
        shape.emplace_back(ir::Symbol::fresh(std::move(facts)));
      } else {
        shape.emplace_back(n);
      }
    }
    // A number says nothing that the position does not.
    std::int64_t number = 0;
    const std::string name(f.param_names[k]);
    params.push_back(b.param(ir::Type::get(f.types[k]->dtype, shape),
                             {raising::parse_digits(name, number) ? "" : name, {}}));
  }
  ir::Vals results = body(scope, params);
  out->result_count = results.size();
  results.insert(results.end(), scope.compared.begin(), scope.compared.end());
  for (Check& c : out->checks) {
    c.got += out->result_count;
    c.expected += out->result_count;
  }
  out->graph = b.build(results);
  built_[index] = {out->graph, deepest_ + 1, weight_ + 1};
}

// ---- values ----

ir::Val Importer::value(Scope& scope, ValueIndex v) {
  const ir::Val x = scope.values[v];
  // Later traces are of regions within this one.
  if (scope.closed && x && x.trace < scope.trace) {
    // What a reducer or comparator reads of its surroundings must be its own.
    const Operation* definition = scope.function.definitions[v];
    if (definition && definition->name == "stablehlo.constant") {
      operation(scope, *definition);
      // Who reads it outside has its own.
      return std::exchange(scope.values[v], x);
    }
    const Offset at = definition ? definition->at : scope.function.at;
    source().unsupported(
        at, "region",
        "a region on scalars reads this value of its surroundings, which is no constant");
  }
  internal_check(static_cast<bool>(x), "a value is used before its definition");
  return x;
}

ir::Vals Importer::block(Scope& scope, const Block& b, std::span<const ir::Val> params) {
  if (++depth_ > kMaxDepth) {
    source().unsupported(b.operations.back().at, "region", "graphs in graphs nest deeper than 64");
  }
  deepest_ = std::max(deepest_, depth_);
  if (scope.values.empty()) scope.values.resize(scope.function.types.size());
  std::ranges::copy(params, scope.values.begin() + b.first_param);
  for (const Operation& op : std::span(b.operations).first(b.operations.size() - 1)) {
    operation(scope, op);
  }
  ir::Vals results;
  for (ValueIndex v : b.operations.back().operands) results.push_back(value(scope, v));
  --depth_;
  return results;
}

ir::Vals Importer::body(Scope& scope, std::span<const ir::Val> params) {
  const Function& f = scope.function;
  const auto lay_out = [&](ir::Vals& values, const std::vector<Attribute>& shardings) {
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (shardings[k].kind != Attribute::Kind::unit) {
        values[k] = laid_out(values[k], shardings[k]);
      }
    }
  };
  ir::Vals in(params.begin(), params.end());
  lay_out(in, f.param_shardings);
  ir::Vals out = block(scope, f.body, in);
  lay_out(out, f.result_shardings);
  return out;
}

const ir::Mesh& Importer::mesh(std::string_view name, Offset at) {
  const auto known = meshes_.find(name);
  if (known != meshes_.end()) return known->second;
  const auto declared = tree_.meshes.find(name);
  if (declared == tree_.meshes.end()) {
    source().fail(at, "there is no mesh @" + std::string(name));
  }
  return meshes_[name] = parse_mesh(source(), name, declared->second.text);
}

ir::Val Importer::laid_out(ir::Val x, const Attribute& sharding) {
  ir::Sharding s = parse_sharding(
      source(), in_brackets(source(), sharding),
      [this](std::string_view name, Offset at) -> const ir::Mesh& { return mesh(name, at); });
  if (s.mesh.axes.empty() && s.dims.size() == usize(x.rank())) return x;  // it says nothing
  try {
    return ops::sharding_constraint(x, std::move(s));
  } catch (UserError& e) {
    e.add_place(source().place(sharding.at));
    throw;
  }
}

void Importer::operation(Scope& scope, const Operation& op) {
  const RaiseFn raise = find_raise(op.name);
  if (!raise) {
    source().unsupported(op.at, std::string(op.name), "this operation is not supported");
  }
  ++weight_;
  if (++operations_ > kFreeOperations + kOperationsPerByte * source().text.size()) {
    source().unsupported(op.at, "import", "calls on sizes write out too many operations");
  }
  const ir::OriginScope origin(
      ir::Origin{.name = {}, .role = ir::Role::primal, .place = source().place(op.at)});
  ir::Vals results;
  try {
    results = raise(Site(*this, scope, op));
    check_results(op, scope, results);
    lay_out_results(op, scope, results);
  } catch (UserError& e) {
    e.add_place(source().place(op.at));
    throw;
  }
  std::ranges::copy(results, scope.values.begin() + op.first_result);
}

void Importer::lay_out_results(const Operation& op, Scope& scope, ir::Vals& results) {
  const Attribute* says = op.find("sdy.sharding");
  if (!says || scope.closed) return;
  const auto shardings = parse_shardings(
      source(), in_brackets(source(), *says),
      [this](std::string_view name, Offset at) -> const ir::Mesh& { return mesh(name, at); });
  if (shardings.size() != results.size()) {
    source().fail(says->at, "there are shardings for another number of results");
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    results[k] = ops::sharding_constraint(results[k], shardings[k]);
  }
}

void Importer::check_results(const Operation& op, Scope& scope, ir::Vals& results) {
  if (results.size() != op.result_count) {
    source().fail(op.at, std::string(op.name) + " has " + std::to_string(results.size()) +
                             " results, and the text says " + std::to_string(op.result_count));
  }
  for (std::size_t k = 0; k < results.size(); ++k) {
    const TensorSpec& said = *scope.function.type(op.first_result + static_cast<ValueIndex>(k));
    const ir::Type is = results[k].type();
    bool same = is.dtype() == said.dtype && usize(is.rank()) == said.extents.size();
    for (std::size_t i = 0; same && i < said.extents.size(); ++i) {
      const ir::Dim d = is.dim(static_cast<int>(i));
      if (said.extents[i] == TensorSpec::kUnknown) continue;
      if (d.is_constant()) {
        same = d.constant() == said.extents[i];
      } else {
        ir::Builder::current().require(
            {ir::Constraint::Kind::equal, d, said.extents[i],
             std::string(op.name) + ": the result's axis " + std::to_string(i),
             source().place(op.at)});
      }
    }
    if (same) continue;
    std::vector<ir::Dim> shape;
    for (std::int64_t n : said.extents) {
      shape.push_back(n == TensorSpec::kUnknown ? ir::Dim(ir::Symbol::fresh("unknown"))
                                                : ir::Dim(n));
    }
    source().fail(op.at, std::string(op.name) + " gives " + is.to_string() +
                             ", and the text says " + ir::Type::get(said.dtype, shape).to_string());
  }
}

ir::GraphRef Importer::scalar_graph(const Site& site, const Block& b,
                                    const std::vector<DType>& dtypes) {
  Scope& scope = site.scope();
  if (b.param_count != dtypes.size()) site.fail("its region has another number of params");
  ir::Builder builder;
  ir::Vals params;
  for (ValueIndex k = 0; k < b.param_count; ++k) {
    const TensorSpec& t = *scope.function.type(b.first_param + k);
    if (!t.extents.empty()) site.unsupported("a region on scalars has params of other shapes");
    if (t.dtype != dtypes[k]) {
      site.unsupported("its region computes in another dtype than the operands have");
    }
    params.push_back(builder.param(ir::Type::scalar(t.dtype)));
  }
  const bool closed = std::exchange(scope.closed, true);
  const std::uint32_t trace = std::exchange(scope.trace, builder.trace());
  const ir::Vals results = block(scope, b, params);
  scope.closed = closed;
  scope.trace = trace;
  return builder.build(results);
}

ir::GraphRef Importer::called_computation(const Site& site) {
  const Attribute& named = site.attribute({"called_computations"});
  if (named.items.size() != 1) site.fail("it names no function, or several");
  const std::size_t index = tree_.function_index.at(named.items[0].text);
  check_callee(site, index);
  const Built& built = built_[index];
  if (!built.graph) site.unsupported("its function depends on sizes");
  for (ir::Type t : built.graph->param_types()) {
    if (t != ir::Type::scalar(site.in(0).dtype())) site.fail("its function takes other scalars");
  }
  return built.graph;
}

ir::Vals Importer::call(const Site& site, std::string_view callee, std::string_view name,
                        std::vector<ir::CallParam> params, std::int64_t version) {
  const std::size_t index = tree_.function_index.at(callee);
  check_callee(site, index);
  const Function& f = tree_.functions[index];
  const Operation& op = site.op();
  bool same = op.operands.size() == f.body.param_count && op.result_count == f.results.size();
  for (std::size_t k = 0; same && k < op.operands.size(); ++k) {
    same = site.operand_type(k) == f.types[k];
  }
  for (std::size_t k = 0; same && k < f.results.size(); ++k)
    same = site.result_type(k) == f.results[k];
  if (!same) site.fail("@" + std::string(callee) + " takes or gives other types");
  if (!is_inlined(index)) {
    const Built& built = built_[index];
    deepest_ = std::max(deepest_, depth_ + built.depth);
    weight_ += built.weight;
    if (weight_ > kMaxWeight) {
      site.unsupported("with all calls written out there are more than 2^24 operations");
    }
    if (deepest_ > kMaxDepth) site.unsupported("graphs in graphs nest deeper than 64");
    if (built.graph->results().size() != f.results.size()) {
      site.unsupported("@" + std::string(callee) +
                       " checks results, which only functions do that nobody calls");
    }
    return ir::call_graph(
        {.name = std::string(name), .params = std::move(params), .version = version}, built.graph,
        site.in());
  }
  Scope inner{.function = f};
  inner.manual = site.scope().manual;
  inner.device = site.scope().device;
  for (ValueIndex k = 0; k < f.body.param_count; ++k) {
    const DType t = f.types[k]->dtype;
    if (!is_integer(t) || f.types[k]->extents.size() > 1) continue;
    inner.sizes.emplace(k, sizes(site.scope(), op.operands[k]));
  }
  return body(inner, site.in());
}

}  // namespace tlaloc::stablehlo
