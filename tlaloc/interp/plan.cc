#include "tlaloc/interp/plan.h"

#include <algorithm>

#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/transform/one_device.h"

namespace tlaloc::interp {
namespace {

using ir::Graph;
using ir::Node;
using ir::ValueId;

/// Gives types numbers; equal types share one.
class TypeTable {
 public:
  explicit TypeTable(Plan& plan) : plan_(plan) {}
  std::uint32_t index(ir::Type t) {
    if (t == last_type_) return last_;
    auto [it, added] = known_.try_emplace(t, static_cast<std::uint32_t>(plan_.types.size()));
    if (added) add(t);
    last_type_ = t;
    return last_ = it->second;
  }

 private:
  struct Hash {
    std::size_t operator()(ir::Type t) const { return t.hash(); }
  };
  void add(ir::Type t) {
    // Quantized values are their bytes.
    t = ops::storage_type(t);
    TypeInfo info{t, t.dtype(), {}};
    if (!t.has_symbols()) {
      for (ir::Dim d : t.shape()) info.extents.push_back(d.constant());
    }
    plan_.types.push_back(std::move(info));
  }
  Plan& plan_;
  std::unordered_map<ir::Type, std::uint32_t, Hash> known_;
  ir::Type last_type_;
  std::uint32_t last_ = 0;
};

void index_types(Plan& p) {
  const Graph& g = *p.graph;
  TypeTable table(p);
  p.type_index.reserve(g.value_count());
  for (ValueId v = 0; v < g.value_count(); ++v) p.type_index.push_back(table.index(g.type(v)));
}

/// Marks last uses; a value without a use has kDiscard as its slot.
std::vector<bool> find_uses(Plan& p) {
  const Graph& g = *p.graph;
  std::vector<bool> used(g.value_count());
  auto use = [&](ValueId v) {
    const bool last = !used[v];
    used[v] = true;
    return Use{(v << 1) | std::uint32_t{last}};
  };
  for (std::size_t k = g.results().size(); k-- > 0;) p.results.push_back(use(g.results()[k]));
  std::ranges::reverse(p.results);
  for (std::uint32_t i = static_cast<std::uint32_t>(g.node_count()); i-- > 0;) {
    const auto in = g.node(i).operands();
    for (std::size_t k = in.size(); k-- > 0;) p.operands.push_back(use(in[k]));
  }
  std::ranges::reverse(p.operands);
  return used;
}

/// Values share slots over time, so that a frame is as large as what is alive at once.
void assign_slots(Plan& p, const std::vector<bool>& used) {
  const Graph& g = *p.graph;
  std::vector<std::uint32_t> free;
  p.slots.assign(g.value_count(), Plan::kDiscard);
  auto give = [&](ValueId v) {
    if (!used[v]) return;
    if (free.empty()) {
      p.slots[v] = p.slot_count++;
    } else {
      p.slots[v] = free.back();
      free.pop_back();
    }
  };
  auto to_slot = [&](Use& u) {
    const bool last = u.last();
    u.word = (p.slots[u.word >> 1] << 1) | std::uint32_t{last};
    return last;
  };
  for (ValueId v = 0; v < g.param_count(); ++v) give(v);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const Node n = g.node(i);
    for (std::size_t k = 0; k < n.operands().size(); ++k) {
      Use& u = p.operands[at++];
      if (to_slot(u)) free.push_back(u.slot());
    }
    for (std::size_t k = 0; k < n.result_count(); ++k) give(n.result(k));
  }
  for (Use& u : p.results) to_slot(u);
}

/// Whether operand k of n is what a scan reads one element of in each iteration.
bool is_scanned(const Node& n, std::size_t k) {
  const auto* a = ir::attr_if<ir::ScanAttrs>(n.attr().get());
  if (!a || k < usize(a->n_inv + a->n_carry)) return false;
  const auto x = static_cast<std::int64_t>(k) - a->n_inv - a->n_carry;
  return !a->xrag[usize(x)] &&
         std::ranges::none_of(a->ragged, [&](const ir::Ragged& r) { return r.xs == x; });
}

void find_counts(Plan& p) {
  const Graph& g = *p.graph;
  std::vector<bool> read(g.value_count());  // otherwise than by counting
  for (ValueId v : g.results()) read[v] = true;
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const Node n = g.node(i);
    for (std::size_t k = 0; k < n.operands().size(); ++k) {
      if (!is_scanned(n, k)) read[n.operand(k)] = true;
    }
  }
  p.counts.resize(g.node_count());
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const Node n = g.node(i);
    p.counts[i] =
        &n.op() == &ops::rows::Iota && g.type(n.result()).rank() == 1 && !read[n.result()];
  }
}

void place_checks(Plan& p) {
  const Graph& g = *p.graph;
  std::unordered_map<std::uint32_t, std::uint32_t> binder;
  for (ir::Symbol s : g.dims()) p.sizes.emplace(s.id(), p.sizes.size());
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    for (ir::Symbol s : g.node(i).bound()) {
      p.sizes.emplace(s.id(), p.sizes.size());
      binder.emplace(s.id(), i);
    }
  }
  const auto constraints = g.constraints();
  for (std::uint32_t c = 0; c < constraints.size(); ++c) {
    std::int64_t after = -1;
    auto visit = [&](ir::Symbol s) {
      auto it = binder.find(s.id());
      if (it != binder.end()) after = std::max(after, std::int64_t{it->second});
    };
    for (ir::Dim d : {constraints[c].a, constraints[c].b}) {
      if (!d.is_constant()) d.each_symbol(visit);
    }
    p.checks.push_back({after < 0 ? Plan::kEntry : static_cast<std::uint32_t>(after), c});
  }
  // kEntry wraps to 0 and sorts first.
  std::ranges::stable_sort(p.checks, {}, [](const Plan::Check& c) { return c.node + 1; });
}

}  // namespace

Program::Program(const Graph& g)
    : local_(transform::on_one_device(g)), entry_(plan(local_ ? *local_ : g)) {}

const Plan* Program::plan(const Graph& g) {
  if (auto it = plans_.find(&g); it != plans_.end()) return it->second.get();
  auto made = std::make_unique<Plan>();
  Plan& p = *made;
  p.graph = &g;
  index_types(p);
  assign_slots(p, find_uses(p));
  find_counts(p);
  place_checks(p);
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const Node n = g.node(i);
    for (const ir::Region& r : n.regions()) p.regions.push_back(plan(*r.graph));
  }
  plans_.emplace(&g, std::move(made));
  return &p;
}

}  // namespace tlaloc::interp
