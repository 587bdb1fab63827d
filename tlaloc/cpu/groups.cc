#include "tlaloc/cpu/groups.h"

#include "tlaloc/cpu/tiles.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

using ops::OpId;

/// Operations in one group: as many as keep a loop's registers in the first-level cache.
constexpr std::uint32_t kMaxGroup = 32;
constexpr std::uint32_t kNobody = ir::kNoNode;
constexpr std::uint32_t kSeveral = ir::kNoNode - 1;

bool has_tile(const ir::Graph& g, const ir::Node& n) {
  if (n.result_count() != 1 || n.operands().empty() || n.operands().size() > 3) return false;
  DType in[3] = {};
  for (std::size_t k = 0; k < n.operands().size(); ++k) {
    const ir::Type t = g.type(n.operand(k));
    if (t.encoding()) return false;
    // A bitcast may change the rank; the bounds of a clamp may be scalars.
    const int rank = n.result_types()[0].rank();
    if (t.rank() != rank && (t.rank() != 0 || &n.op() != &ops::rows::Clamp)) return false;
    in[k] = t.dtype();
  }
  return find_tile(n.op(), n.attr().get(), {in, n.operands().size()}, n.result_types()[0].dtype())
             .run != nullptr;
}

/// Whether a moved value can be computed where it is read.
bool moves_in_loops(const ir::Node& n) {
  switch (static_cast<OpId>(n.op().id)) {
    case OpId::Transpose:
    case OpId::Reverse:
    case OpId::Slice:
      return true;
    default:
      return false;
  }
}

/// Values that nothing reads but scans, row by row.
std::vector<bool> find_by_rows(const ir::Graph& g) {
  std::vector<bool> by_rows(g.value_count()), otherwise(g.value_count());
  for (ir::ValueId v : g.results()) otherwise[v] = true;
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const ir::Node n = g.node(i);
    const bool scans = static_cast<OpId>(n.op().id) == OpId::Scan;
    for (std::size_t k = 0; k < n.operands().size(); ++k) {
      bool row = false;
      if (scans) {
        const auto& a = n.as<ir::ScanAttrs>();
        const std::size_t first = usize(a.n_inv + a.n_carry);
        row = k >= first && !a.xrag[k - first];
      }
      (row ? by_rows : otherwise)[n.operand(k)] = true;
    }
  }
  for (std::size_t v = 0; v < by_rows.size(); ++v) by_rows[v] = by_rows[v] && !otherwise[v];
  return by_rows;
}

}  // namespace

NodeClass class_of(const ir::Graph& g, const ir::Node& n) {
  switch (static_cast<OpId>(n.op().id)) {
    case OpId::Constant:
    case OpId::Iota:
    case OpId::DimValue:
      return NodeClass::leaf;
    case OpId::BroadcastInDim:
    case OpId::Reshape:
    case OpId::Transpose:
    case OpId::Slice:
    case OpId::Reverse:
    case OpId::OptimizationBarrier:
    case OpId::StopGradient:
      return g.type(n.operand(0)).encoding() ? NodeClass::other : NodeClass::moved;
    default:
      break;
  }
  if (!n.regions().empty()) return NodeClass::other;
  if (n.operands().size() == 1 && find_fold(n.op(), g.type(n.operand(0)).dtype())) {
    return NodeClass::fold;
  }
  return has_tile(g, n) ? NodeClass::elementwise : NodeClass::other;
}

Groups find_groups(const ir::Graph& g) {
  const auto count = static_cast<std::uint32_t>(g.node_count());
  Groups r{.classes = std::vector<NodeClass>(count),
           .root = std::vector<std::uint32_t>(count),
           .turned = {},
           .by_rows = find_by_rows(g)};
  std::vector<std::uint32_t> reader(g.value_count(), kNobody);  // the one group that reads it
  std::vector<std::uint32_t> members(count);
  auto read_by = [&](ir::ValueId v, std::uint32_t who) {
    reader[v] = reader[v] == kNobody || reader[v] == who ? who : kSeveral;
  };
  // A value that is read where it lies and elsewhere too would be computed for each place.
  std::vector<std::uint32_t> reading_nodes(g.value_count());
  for (ir::ValueId v : g.results()) {
    reader[v] = kSeveral;
    ++reading_nodes[v];
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    for (ir::ValueId v : g.node(i).operands()) ++reading_nodes[v];
  }
  for (std::uint32_t i = count; i-- > 0;) {
    const ir::Node n = g.node(i);
    const NodeClass k = r.classes[i] = class_of(g, n);
    const bool joins = k == NodeClass::elementwise || k == NodeClass::moved;
    const std::uint32_t one = joins ? reader[n.result()] : kSeveral;
    const bool inside = one != kNobody && one != kSeveral && members[one] < kMaxGroup;
    r.root[i] = inside ? one : i;
    if (k == NodeClass::elementwise) ++members[r.root[i]];
    const bool fuses = k == NodeClass::elementwise || k == NodeClass::fold;
    const bool moves = k == NodeClass::moved && inside && moves_in_loops(n);
    if (static_cast<OpId>(n.op().id) == OpId::Transpose && reading_nodes[n.operand(0)] == 1) {
      r.turned.emplace(n.operand(0), i);
    }
    for (ir::ValueId v : n.operands()) {
      read_by(v, fuses || (moves && reading_nodes[v] == 1) ? r.root[i] : kSeveral);
    }
  }
  return r;
}

}  // namespace tlaloc::cpu
