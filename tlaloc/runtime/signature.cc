#include <algorithm>
#include <set>

#include "tlaloc/runtime/backend.h"

namespace tlaloc::runtime {

Signature signature_of(const ir::Graph& g, const CompileOptions& options) {
  Signature s;
  s.name = g.name();
  s.params.assign(g.param_types().begin(), g.param_types().end());
  s.results = g.result_types();
  for (std::size_t k = 0; k < s.params.size(); ++k) s.param_labels.push_back(g.param_label(k));
  for (std::size_t k = 0; k < s.results.size(); ++k) s.result_labels.push_back(g.result_label(k));
  s.dims.assign(g.dims().begin(), g.dims().end());
  for (ir::Symbol symbol : s.dims) {
    const bool determined = std::ranges::any_of(s.params, [&](ir::Type t) {
      return std::ranges::any_of(t.shape(), [&](ir::Dim d) { return d.as_symbol() == symbol; });
    });
    if (!determined) s.undetermined.push_back(symbol);
  }
  s.result_dims.assign(g.result_dims().begin(), g.result_dims().end());
  std::set<std::size_t> params, results;
  for (const Alias& a : options.aliases) {
    const std::string what =
        "result " + std::to_string(a.result) + " and argument " + std::to_string(a.param);
    auto fail = [&](const std::string& message) {
      throw UserError({"TL-ALIAS-001", g.name(), message, "", {}});
    };
    if (a.param >= s.params.size() || a.result >= s.results.size()) {
      fail(what + " can't share memory: there is no such position");
    }
    if (s.params[a.param] != s.results[a.result]) {
      fail(what + " can't share memory: their types are " + s.results[a.result].to_string() +
           " and " + s.params[a.param].to_string());
    }
    if (!params.insert(a.param).second || !results.insert(a.result).second) {
      fail(what + " can't share memory: one of them is in another alias");
    }
  }
  s.aliases = options.aliases;
  return s;
}

}  // namespace tlaloc::runtime
