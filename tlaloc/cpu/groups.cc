#include "tlaloc/cpu/groups.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "tlaloc/cpu/tiles.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/slice.h"

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

bool is(const ir::Node& n, OpId op) { return static_cast<OpId>(n.op().id) == op; }

/// Of an update of x: the slice of x at the same place, of which and a value the update is the sum.
std::optional<std::pair<Groups::Added, std::uint32_t>> find_added(
    const ir::Graph& g, const ir::Node& n, const std::vector<std::uint32_t>& reading_nodes) {
  auto only_here = [&](ir::ValueId v, OpId op) -> std::optional<ir::Node> {
    if (g.is_param(v) || reading_nodes[v] != 1 || g.type(v).encoding()) return std::nullopt;
    const ir::Node p = g.node(g.producer(v));
    return is(p, op) ? std::optional(p) : std::nullopt;
  };
  if (!is(n, OpId::DynamicUpdateSlice)) return std::nullopt;
  const auto places = n.operands().subspan(2);
  const bool known = std::ranges::all_of(places, [&](ir::ValueId v) {
    return !g.is_param(v) && is(g.node(g.producer(v)), OpId::Constant);
  });
  if (!known || n.as<ops::DynamicUpdateSliceAttrs>().batch_axes != 0) return std::nullopt;
  const auto sum = only_here(n.operand(1), OpId::Add);
  if (!sum || sum->operand(0) == sum->operand(1)) return std::nullopt;
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
    const auto part = only_here(sum->operand(k), OpId::DynamicSlice);
    if (!part || part->operand(0) != n.operand(0) ||
        part->as<ops::DynamicSliceAttrs>().batch_axes != 0 ||
        !std::ranges::equal(part->operands().subspan(1), places)) {
      continue;
    }
    return std::pair(Groups::Added{sum->operand(1 - k), k == 0, sum->index()}, part->index());
  }
  return std::nullopt;
}

/// Values that nothing reads but scans, row by row.
std::vector<bool> find_by_rows(const ir::Graph& g) {
  std::vector<bool> by_rows(g.value_count()), otherwise(g.value_count());
  for (ir::ValueId v : g.results()) otherwise[v] = true;
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const ir::Node n = g.node(i);
    const bool scans = is(n, OpId::Scan);
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

/// Values that wait in memory for a loop far behind them take more of it than what they are needed
/// for, such as the slope of an activation function, which the backward pass reads: that is then
/// computed where they are.
class EarlyValues {
 public:
  EarlyValues(const ir::Graph& g, Groups& groups) : g_(g), groups_(groups) {}

  void find() {
    const auto count = static_cast<std::uint32_t>(g_.node_count());
    kernels_.assign(count + 1, 0);
    bool any = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      kernels_[i + 1] = kernels_[i] + (groups_.classes[i] == NodeClass::other ? 1 : 0);
      any = any || (groups_.root[i] != i && may_be_early(i));
    }
    if (!any || kernels_[count] == 0) return;
    readers_.resize(g_.value_count());
    for (std::uint32_t i = 0; i < count; ++i) {
      for (const ir::ValueId v : g_.node(i).operands()) readers_[v].push_back(i);
    }
    is_result_.resize(g_.value_count());
    for (const ir::ValueId v : g_.results()) is_result_[v] = true;
    sources_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (groups_.root[i] == i) continue;
      find_sources(i);
      if (saves(i)) compute_here(i);
    }
  }

 private:
  /// Few suffice; more say nothing.
  static constexpr std::size_t kMost = 8;
  struct Sources {
    std::array<ir::ValueId, kMost> values{};
    std::size_t count = 0;
    bool all = true;
    void add(ir::ValueId v) {
      if (std::find(values.begin(), values.begin() + count, v) != values.begin() + count) return;
      count == kMost ? void(all = false) : void(values[count++] = v);
    }
  };
  /// Arrays of a few pages are no matter.
  static constexpr double kLeast = 1 << 14;

  double bytes(ir::ValueId v) const {
    const ir::Type t = g_.type(v);
    return std::max(ir::typical(t.elements()), 0.0) * byte_size(t.dtype());
  }
  bool may_be_early(std::uint32_t i) const {
    if (groups_.classes[i] != NodeClass::elementwise) return false;
    const ir::ValueId v = g_.node(i).result();
    return g_.type(v).rank() > 0 && bytes(v) >= kLeast;
  }
  bool in_group(ir::ValueId v, std::uint32_t root) const {
    if (g_.is_param(v)) return false;
    const std::uint32_t p = g_.producer(v);
    return p != root && groups_.root[p] == root;
  }
  /// What lies in memory and the value is computed of, within its group.
  void find_sources(std::uint32_t i) {
    Sources& s = sources_[i];
    for (const ir::ValueId v : g_.node(i).operands()) {
      if (in_group(v, groups_.root[i])) {
        const Sources& of = sources_[g_.producer(v)];
        s.all = s.all && of.all;
        for (std::size_t k = 0; k < of.count; ++k) s.add(of.values[k]);
      } else if (g_.is_param(v) || groups_.classes[g_.producer(v)] != NodeClass::leaf) {
        s.add(v);
      }
    }
  }
  /// Whether what waits for the loop, and for nothing else that late, is more than the value.
  bool saves(std::uint32_t i) const {
    const std::uint32_t root = groups_.root[i];
    const Sources& s = sources_[i];
    if (!may_be_early(i) || !s.all || s.count == 0) return false;
    if (kernels_[root] == kernels_[i]) return false;  // it is near
    const double own = bytes(g_.node(i).result());
    double waiting = 0;
    for (std::size_t k = 0; k < s.count; ++k) {
      const ir::ValueId v = s.values[k];
      if (g_.is_param(v)) continue;  // its caller's
      const bool others = std::ranges::any_of(readers_[v], [&](std::uint32_t reader) {
        const std::uint32_t at = groups_.root[reader];
        return at != root && kernels_[at] >= kernels_[root];
      });
      if (!others && !is_result_[v]) waiting += bytes(v);
    }
    return waiting > own && alone(i);
  }
  /// The node, and those of its group that are computed for it.
  std::vector<std::uint32_t> part_of(std::uint32_t i) const {
    std::vector<std::uint32_t> part{i};
    for (std::size_t k = 0; k < part.size(); ++k) {
      for (const ir::ValueId v : g_.node(part[k]).operands()) {
        if (!in_group(v, groups_.root[i])) continue;
        const std::uint32_t p = g_.producer(v);
        if (std::ranges::find(part, p) == part.end()) part.push_back(p);
      }
    }
    return part;
  }
  /// Whether what is computed for the value in its group is read by nothing else.
  bool alone(std::uint32_t i) const {
    const std::vector<std::uint32_t> part = part_of(i);
    return std::ranges::all_of(part.begin() + 1, part.end(), [&](std::uint32_t p) {
      return std::ranges::all_of(readers_[g_.node(p).result()], [&](std::uint32_t reader) {
        return std::ranges::find(part, reader) != part.end();
      });
    });
  }
  void compute_here(std::uint32_t i) {
    for (const std::uint32_t p : part_of(i)) groups_.root[p] = i;
  }

  const ir::Graph& g_;
  Groups& groups_;
  std::vector<std::uint32_t> kernels_;  ///< before each node
  std::vector<std::vector<std::uint32_t>> readers_;
  std::vector<Sources> sources_;
  std::vector<bool> is_result_;
};

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
           .added = {},
           .absorbed = std::vector<bool>(count),
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
    if (r.absorbed[i]) {
      r.root[i] = i;
      continue;  // who absorbs it reads what it reads
    }
    if (const auto found = find_added(g, n, reading_nodes)) {
      r.added.emplace(i, found->first);
      r.absorbed[found->first.addition] = r.absorbed[found->second] = true;
      r.root[i] = i;
      for (ir::ValueId v : n.operands()) read_by(v, kSeveral);
      read_by(found->first.value, i);
      continue;
    }
    const bool joins = k == NodeClass::elementwise || k == NodeClass::moved;
    const std::uint32_t one = joins ? reader[n.result()] : kSeveral;
    const bool inside = one != kNobody && one != kSeveral && members[one] < kMaxGroup;
    r.root[i] = inside ? one : i;
    if (k == NodeClass::elementwise) ++members[r.root[i]];
    const bool fuses = k == NodeClass::elementwise || k == NodeClass::fold;
    const bool moves = k == NodeClass::moved && inside && moves_in_loops(n);
    if (is(n, OpId::Transpose) && reading_nodes[n.operand(0)] == 1) {
      r.turned.emplace(n.operand(0), i);
    }
    for (ir::ValueId v : n.operands()) {
      read_by(v, fuses || (moves && reading_nodes[v] == 1) ? r.root[i] : kSeveral);
    }
  }
  EarlyValues(g, r).find();
  return r;
}

}  // namespace tlaloc::cpu
