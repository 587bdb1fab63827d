#include "tlaloc/cxx/print.h"

#include <algorithm>
#include <unordered_set>

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/names.h"
#include "tlaloc/cxx/passes.h"
#include "tlaloc/cxx/render.h"
#include "tlaloc/cxx/tensor_function.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::cxx {
namespace {

/// Names given, or labels, or `stem` with a number; unique.
std::vector<std::string> unique_names(std::size_t count, const std::vector<std::string>& given,
                                      const std::function<std::string(std::size_t)>& label,
                                      const std::string& stem) {
  std::vector<std::string> r;
  std::unordered_set<std::string> used;
  for (std::size_t k = 0; k < count; ++k) {
    std::string name = k < given.size() && !given[k].empty() ? given[k] : speaking(label(k));
    if (name.empty()) name = count == 1 ? stem : stem + std::to_string(k + 1);
    name = identifier(name);
    std::string unique = name;
    for (int n = 2; !used.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
    r.push_back(unique);
  }
  return r;
}

/// Whether a value is more of a matrix than the few numbers that a person writes out in loops: up
/// to 4 by 4, as in geometry and control.
bool is_matrix(ir::Type t) {
  constexpr std::int64_t kFew = 16;
  const ir::Dim n = t.elements();
  return t.rank() > 1 && !(n.is_constant() && n.constant() <= kFew);
}
/// In regions too.
bool has_matrices(const ir::Graph& g) {
  for (std::size_t v = 0; v < g.value_count(); ++v) {
    if (is_matrix(g.type(static_cast<ir::ValueId>(v)))) return true;
  }
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    for (const ir::Region& r : g.node(i).regions()) {
      if (has_matrices(*r.graph)) return true;
    }
  }
  return false;
}

Printed print_plain(const ir::Graph& g, const std::string& name, const Signature& signature) {
  Module module;
  Function f;
  Printed printed;
  auto lower = [&] {
    f = {};
    f.name = name;
    printed.sizes = Lowering(module, f).function(g, signature);
  };
  try {
    lower();
  } catch (const PiecesAreRead&) {
    module = {};
    module.melt_pieces = false;
    lower();
  }
  printed.function = f.name;
  printed.result_type = f.result_type;
  for (VarId p : f.params) printed.param_types.push_back(f.vars[p].type);
  if (g.results().size() > 1) printed.result_fields = signature.results;
  make_readable(f);
  module.functions.push_back(std::move(f));
  printed.text = render(module);
  return printed;
}

}  // namespace

std::string print(const ir::Graph& g, const Options& options) {
  return print_with_signature(g, options).text;
}
Printed print_with_signature(const ir::Graph& graph, const Options& options) {
  // Not owned: the caller keeps the graph alive.
  const ir::GraphRef alias(ir::GraphRef(), &graph);
  const ir::GraphRef g = transform::dce(alias);
  std::string name = options.function.empty() ? g->name() : options.function;
  name = name.empty() ? "f" : identifier(name);

  Signature signature;
  signature.params = unique_names(
      g->param_count(), options.param_names, [&](std::size_t k) { return g->param_label(k).name; },
      "x");
  signature.results = unique_names(
      g->results().size(), options.result_names,
      [&](std::size_t k) { return g->result_label(k).name; }, "y");

  if (options.mode == Mode::tensor) return print_tensor(*g, name, signature, options);
  if (options.mode == Mode::automatic && has_matrices(*g)) {
    try {
      return print_tensor(*g, name, signature, options);
    } catch (const UserError& e) {
      if (e.code() != "TL-CXX-001") throw;
    }
  }
  return print_plain(*g, name, signature);
}

}  // namespace tlaloc::cxx
