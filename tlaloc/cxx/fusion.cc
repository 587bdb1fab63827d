#include "tlaloc/cxx/fusion.h"

#include <algorithm>
#include <limits>

#include "tlaloc/cxx/rules.h"
#include "tlaloc/ir/region_ops.h"

namespace tlaloc::cxx {
namespace {

using ir::ValueId;

/// The loop that reads a value: a number for each consumer that writes out its result.
using LoopId = std::uint64_t;
constexpr LoopId kNobody = 0;
constexpr LoopId kSeveral = std::numeric_limits<LoopId>::max();

}  // namespace

std::vector<Keep> arrays_to_keep(const ir::Graph& g) {
  std::vector<LoopId> reader(g.value_count(), kNobody);
  LoopId next = 1;
  auto read_by = [&](ValueId v, LoopId loop) {
    reader[v] = reader[v] == kNobody || reader[v] == loop ? loop : kSeveral;
  };
  // Vectors that are updated in place further on: what reads them must do so before.
  std::vector<bool> updated(g.value_count()), before_update(g.value_count());
  for (ValueId v : g.results()) read_by(v, next++);
  for (std::uint32_t i = static_cast<std::uint32_t>(g.node_count()); i-- > 0;) {
    const ir::Node n = g.node(i);
    std::size_t first_once = 0, end_once = 0;  // operands of a region that are read once
    Reads reads = Reads::often;
    LoopId loop = next++;
    if (n.region_kind() == ir::RegionKind::loop || n.region_kind() == ir::RegionKind::scan) {
      const bool is_while = n.region_kind() == ir::RegionKind::loop;
      first_once = static_cast<std::size_t>(is_while ? n.as<ir::WhileAttrs>().n_inv
                                                     : n.as<ir::ScanAttrs>().n_inv);
      end_once = n.operands().size();
    } else if (const Rule* rule = find_rule(n.op())) {
      reads = rule->reads;
      const LoopId own = n.result_count() > 0 ? reader[n.result()] : kNobody;  // debug_print: none
      // Melts into the loop of its only reader, and so do its operands.
      if (rule->element && own != kSeveral && own != kNobody) loop = own;
    }
    if (n.op().traits.updates) updated[n.operand(0)] = true;
    for (std::size_t k = 0; k < n.operands().size(); ++k) {
      if (updated[n.operand(k)] && n.regions().empty()) {
        for (std::size_t q = 0; q < n.result_count(); ++q) {
          reader[n.result(q)] = kSeveral;
          before_update[n.result(q)] = true;
        }
      }
      const bool once = k >= first_once && k < end_once;
      const Reads how = once ? Reads::once : reads;
      read_by(n.operand(k), how == Reads::elementwise ? loop
                            : how == Reads::once      ? next++
                                                      : kSeveral);
    }
  }
  std::vector<Keep> keep(g.value_count(), Keep::no);
  for (ValueId v = 0; v < g.value_count(); ++v) {
    if (g.type(v).rank() == 0) continue;
    if (before_update[v])
      keep[v] = Keep::always;
    else if (reader[v] == kSeveral)
      keep[v] = Keep::if_computed;
  }
  // Melted ops are printed by calling each other: a chain of them is cut where it gets deep.
  constexpr int kDeep = 64;
  std::vector<int> depth(g.value_count());
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const ir::Node n = g.node(i);
    int deepest = 0;
    for (ValueId v : n.operands()) deepest = std::max(deepest, depth[v]);
    for (std::size_t k = 0; k < n.result_count(); ++k) {
      const ValueId v = n.result(k);
      if (g.type(v).rank() == 0) continue;
      if (keep[v] != Keep::always && deepest + 1 == kDeep) keep[v] = Keep::always;
      depth[v] = keep[v] == Keep::always ? 0 : deepest + 1;
    }
  }
  return keep;
}

}  // namespace tlaloc::cxx
