#include "tlaloc/cxx/usage.h"

#include <algorithm>

#include "tlaloc/ir/region_ops.h"

namespace tlaloc::cxx {

using ir::Dim;
using ir::Graph;
using ir::Type;

bool reads_symbol(const Graph& g, ir::Symbol s) {
  auto is = [&](ir::Symbol x) { return x == s; };
  auto in_type = [&](Type t) {
    return std::ranges::any_of(t.shape(), [&](Dim d) { return d.mentions(is); });
  };
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const ir::Node n = g.node(i);
    bool found = false;
    if (n.attr() && n.attr()->has_dims()) {
      n.attr()->each_dim([&](Dim d) { found = found || d.mentions(is); });
    }
    for (const ir::Region& r : n.regions()) {
      for (const auto& d : r.dims) found = found || (d && d->mentions(is));
    }
    if (std::ranges::find(n.bound(), s) == n.bound().end()) {
      for (Type t : n.result_types()) found = found || in_type(t);
    }
    if (found) return true;
  }
  return std::ranges::any_of(g.result_dims(), [&](Dim d) { return d.mentions(is); });
}
bool reads_value(const Graph& g, ir::ValueId v) {
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    if (std::ranges::find(g.node(i).operands(), v) != g.node(i).operands().end()) return true;
  }
  return std::ranges::find(g.results(), v) != g.results().end();
}
bool only_ragged_reads(const Graph& g, ir::ValueId v) {
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const ir::Node n = g.node(i);
    for (std::size_t k = 0; k < n.operands().size(); ++k) {
      if (n.operand(k) != v) continue;
      if (n.region_kind() != ir::RegionKind::scan) return false;
      const auto& a = n.as<ir::ScanAttrs>();
      const auto first = static_cast<std::size_t>(a.n_inv + a.n_carry);
      if (k < first || !a.xrag[k - first]) return false;
    }
  }
  return std::ranges::find(g.results(), v) == g.results().end();
}

}  // namespace tlaloc::cxx
