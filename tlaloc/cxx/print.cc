#include "tlaloc/cxx/print.h"

#include <algorithm>
#include <unordered_set>

#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/names.h"
#include "tlaloc/cxx/passes.h"
#include "tlaloc/cxx/render.h"
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
    std::string name = k < given.size() && !given[k].empty() ? given[k] : label(k);
    if (name.empty()) name = count == 1 ? stem : stem + std::to_string(k + 1);
    name = identifier(name);
    std::string unique = name;
    for (int n = 2; !used.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
    r.push_back(unique);
  }
  return r;
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

  Module module;
  Function f;
  Printed printed;
  auto lower = [&] {
    f = {};
    f.name = name;
    printed.sizes = Lowering(module, f).function(*g, signature);
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
  if (g->results().size() > 1) printed.result_fields = signature.results;
  merge_branches(f);
  flatten_histories(f);
  fold(f);
  order_moves(f);
  drop_dead_stores(f);
  join_variables(f);
  tidy(f);
  fuse_loops(f);
  fold(f);
  if (mark_moves(f)) module.needs.header("utility");
  place_declarations(f);
  module.functions.push_back(std::move(f));
  printed.text = render(module);
  return printed;
}

}  // namespace tlaloc::cxx
