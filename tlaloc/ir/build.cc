// Closing a trace: drops dead nodes, renumbers, and seals the graph. Also copying and inlining.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tlaloc/ir/builder.h"
#include "tlaloc/ir/interner.h"

namespace tlaloc::ir {

std::uint64_t hash_node(const OpDef& op, const Attr* attr, std::span<const Val> in,
                        std::span<const Region> regions) {
  Hasher h;
  h.add(reinterpret_cast<std::uintptr_t>(&op));
  if (op.traits.commutative && in.size() >= 2) {
    h.add(std::min(in[0].id, in[1].id));
    h.add(std::max(in[0].id, in[1].id));
    for (Val v : in.subspan(2)) h.add(v.id);
  } else {
    for (Val v : in) h.add(v.id);
  }
  if (attr) h.add(attr->identity_hash());
  for (const Region& r : regions) {
    h.add(r.graph->content_hash());
    for (const auto& d : r.dims) {
      if (d)
        h.add(*d);
      else
        h.add(std::uint64_t{0x51});
    }
  }
  return h.value();
}

std::pair<std::vector<std::uint8_t>, std::size_t> Builder::live_nodes(std::span<const Val> results,
                                                                      const Close& close) const {
  if (close.keep_dead) return {std::vector<std::uint8_t>(nodes_.size(), 1), nodes_.size()};
  std::vector<std::uint8_t> live(nodes_.size()), live_value(types_.size());
  std::unordered_map<std::uint32_t, std::uint32_t> binder;  // symbol id -> node
  if (!parts_.empty()) {
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].parts == kNoNode) continue;
      for (Symbol s : parts_[nodes_[i].parts].bound) binder.emplace(s.id(), i);
    }
  }
  auto need_dim = [&](Dim d) {
    if (d.is_constant()) return;
    d.each_symbol([&](Symbol s) {
      auto it = binder.find(s.id());
      if (it != binder.end()) live[it->second] = 1;
    });
  };
  auto need_type = [&](Type t) {
    if (t.has_symbols()) std::ranges::for_each(t.shape(), need_dim);
  };
  for (Val v : results) {
    live_value[v.id] = 1;
    if (!binder.empty()) need_type(types_[v.id]);
  }
  for (Dim d : close.result_dims) need_dim(d);
  // A dim may be bound by a node between its binder's users, so iterate backwards once: a node only
  // needs nodes before it.
  std::size_t count = 0;
  for (std::size_t i = nodes_.size(); i-- > 0;) {
    const NodeData& n = nodes_[i];
    bool needed = live[i] || n.op->traits.ordered;
    for (std::uint32_t k = 0; k < n.result_count; ++k) {
      needed = needed || live_value[n.result_begin + k];
    }
    if (n.parts != kNoNode && !needed) {
      needed = std::ranges::any_of(parts_[n.parts].regions,
                                   [](const Region& r) { return r.graph->has_effects(); });
    }
    live[i] = needed;
    if (!needed) continue;
    ++count;
    const std::uint32_t* operands = operands_.data() + n.operand_begin;
    for (std::uint32_t k = 0; k < n.operand_count; ++k) live_value[operands[k]] = 1;
    if (binder.empty()) continue;
    for (std::uint32_t k = 0; k < n.result_count; ++k) need_type(types_[n.result_begin + k]);
    if (n.attr && n.attr->has_dims()) n.attr->each_dim(need_dim);
    if (n.parts == kNoNode) continue;
    for (const Region& r : parts_[n.parts].regions) {
      for (const auto& d : r.dims) {
        if (d) need_dim(*d);
      }
    }
  }
  return {std::move(live), count};
}

std::vector<std::uint32_t> Builder::param_order(const Close& close) const {
  std::vector<std::uint32_t> order;
  if (close.params.empty()) {
    order = lifted_ids_;
    order.insert(order.end(), declared_.begin(), declared_.end());
    return order;
  }
  for (Val v : close.params) {
    internal_check(v.trace == trace_, "a parameter of another trace");
    internal_check(producers_[v.id] == kNoNode, "a parameter that a node computes");
    order.push_back(v.id);
  }
  return order;
}

void Builder::take_all(Graph& g, std::size_t params) {
  g.param_count_ = params;
  g.types_ = types_;  // may be asked for afterwards
  g.producers_ = std::move(producers_);
  g.origins_ = std::move(origins_);
}

void Builder::take_live(Graph& g, const std::vector<std::uint8_t>& live,
                        std::vector<std::uint32_t>& new_id) {
  // The live nodes move together in place, and the graph takes them over: nothing is copied.
  std::uint32_t index = 0, operands_end = 0, parts_end = 0;
  for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
    if (!live[i]) continue;
    NodeData& n = nodes_[i];
    for (std::uint32_t k = 0; k < n.operand_count; ++k) {
      const std::uint32_t id = new_id[operands_[n.operand_begin + k]];
      internal_check(id != kNoNode, "an operand is not among the graph's parameters");
      operands_[operands_end + k] = id;
    }
    n.operand_begin = operands_end;
    operands_end += n.operand_count;
    if (n.parts != kNoNode) {
      if (n.parts != parts_end) parts_[parts_end] = std::move(parts_[n.parts]);
      n.parts = parts_end++;
    }
    const auto result_begin = static_cast<std::uint32_t>(g.types_.size());
    for (std::uint32_t k = 0; k < n.result_count; ++k) {
      new_id[n.result_begin + k] = result_begin + k;
      g.types_.push_back(types_[n.result_begin + k]);
      g.producers_.push_back(index);
    }
    n.result_begin = result_begin;
    const OriginRef& origin = origins_[n.origin];
    if (g.origins_.empty() || g.origins_.back() != origin) g.origins_.push_back(origin);
    n.origin = static_cast<std::uint32_t>(g.origins_.size() - 1);
    if (index != i) nodes_[index] = std::move(n);
    ++index;
  }
  nodes_.erase(nodes_.begin() + index, nodes_.end());
  operands_.resize(operands_end);
  parts_.resize(parts_end);
}

GraphRef Builder::build(std::span<const Val> result_vals, Close close) {
  internal_check(!built_, "a trace is built once");
  Vals results;
  results.reserve(result_vals.size());
  for (Val v : result_vals) results.push_back(lift(v));
  const auto [live, live_count] = live_nodes(results, close);
  const std::vector<std::uint32_t> order = param_order(close);

  std::shared_ptr<Graph> g(new Graph);
  g->name_ = name_;
  for (std::size_t k = 0; k < order.size() && !declared_labels_.empty(); ++k) {
    const auto it = std::ranges::lower_bound(declared_, order[k]);  // ids grow
    if (it == declared_.end() || *it != order[k]) continue;
    const Label& label =
        Graph::label(declared_labels_, static_cast<std::size_t>(it - declared_.begin()));
    if (label.empty()) continue;
    g->param_labels_.resize(k + 1);
    g->param_labels_[k] = label;
  }
  // Where nothing is dropped and the parameters are in front, ids stay as they are.
  bool in_front =
      !ahead_ && live_count == nodes_.size() && order.size() == declared_.size() + lifted_.size();
  for (std::uint32_t k = 0; k < order.size() && in_front; ++k) in_front = order[k] == k;
  if (in_front) {
    take_all(*g, order.size());
    for (Val v : results) g->results_.push_back(v.id);
  } else {
    std::vector<std::uint32_t> new_id(types_.size(), kNoNode);
    g->types_.reserve(types_.size());
    g->producers_.reserve(types_.size());
    g->param_count_ = order.size();
    for (std::uint32_t old : order) {
      internal_check(new_id[old] == kNoNode, "a parameter stands twice");
      new_id[old] = static_cast<std::uint32_t>(g->types_.size());
      g->types_.push_back(types_[old]);
      g->producers_.push_back(kNoNode);
    }
    take_live(*g, live, new_id);
    for (Val v : results) {
      internal_check(new_id[v.id] != kNoNode, "a result is not among the graph's values");
      g->results_.push_back(new_id[v.id]);
    }
  }
  built_ = true;
  g->nodes_ = std::move(nodes_);
  g->operands_ = std::move(operands_);
  g->parts_ = std::move(parts_);
  g->has_effects_ = has_effects_;
  g->has_regions_ =
      std::ranges::any_of(g->parts_, [](const NodeParts& p) { return !p.regions.empty(); });
  g->result_dims_ = std::move(close.result_dims);
  g->result_labels_ = std::move(close.result_labels);
  g->result_labels_.resize(std::min(g->result_labels_.size(), g->results_.size()));
  while (!g->result_labels_.empty() && g->result_labels_.back().empty()) {
    g->result_labels_.pop_back();
  }
  if (symbolic_ || !g->result_dims_.empty()) g->collect_dims(close.dims);
  // A constraint is kept when its symbols are in scope; one about dropped work has no meaning.
  std::unordered_set<std::uint32_t> scope;
  if (!constraints_.empty()) {
    for (Symbol s : g->dims_) scope.insert(s.id());
    for (Symbol s : g->bound()) scope.insert(s.id());
  }
  auto unknown = [&](Symbol s) { return !scope.contains(s.id()); };
  for (const Constraint& c : constraints_) {
    if (!c.a.mentions(unknown) && !c.b.mentions(unknown)) g->constraints_.push_back(c);
  }
  return g;
}

// ---- copying ----

Val Copier::declare(std::size_t k) {
  return env[k] =
             Builder::current().param(graph.type(static_cast<ValueId>(k)), graph.param_label(k));
}
void Copier::declare_all() {
  for (std::size_t k = 0; k < graph.param_count(); ++k) declare(k);
}

const Vals& Copier::operands(const Node& n) {
  in_.clear();
  for (ValueId v : n.operands()) in_.push_back(env[v]);
  return in_;
}

void Copier::copy_as_is(const Node& n) {
  if (!n.regions().empty() || !n.bound().empty() || !dims.empty()) return copy(n);
  std::optional<OriginScope> origin;
  if (n.origin_ref() != OriginScope::current()) origin.emplace(n.origin_ref());
  Builder::current().append(n.op(), n.attr(), operands(n), n.result_types(),
                            std::span(env).subspan(n.result(), n.result_count()));
}

namespace {
void emit_copy(const Node& n, std::span<const Val> in, DimMap& dims, std::vector<Type>& scratch,
               std::span<Val> out) {
  Builder& b = Builder::current();
  // Most nodes have the origin of the node before: setting it costs more than looking.
  std::optional<OriginScope> origin;
  if (n.origin_ref() != OriginScope::current()) origin.emplace(n.origin_ref());
  AttrRef substituted;
  const bool map_dims = !dims.empty();
  if (map_dims && n.attr() && n.attr()->has_dims()) substituted = n.attr()->substitute(dims);
  const AttrRef& attr = substituted ? substituted : n.attr();
  auto types = [&]() -> std::span<const Type> {
    if (dims.empty()) return n.result_types();
    scratch.clear();
    for (Type t : n.result_types()) scratch.push_back(t.substitute(dims));
    return scratch;
  };
  if (n.regions().empty() && n.bound().empty()) {
    b.emit_typed(n.op(), attr, in, types(), out);
    return;
  }
  std::vector<Region> regions;
  for (const Region& r : n.regions()) {
    Region copy{r.graph, {}};
    for (const auto& d : r.dims) {
      copy.dims.push_back(d ? std::optional<Dim>(d->substitute(dims)) : std::nullopt);
    }
    regions.push_back(std::move(copy));
  }
  std::vector<Symbol> bound;
  for (Symbol s : n.bound()) {
    bound.push_back(Symbol::like(s));
    dims.set(s, bound.back());
  }
  const auto r = b.emit_region(n.op(), attr, in, types(), std::move(regions), bound);
  for (std::size_t k = 0; k < r.bound.size(); ++k) dims.set(n.bound()[k], r.bound[k]);
  std::copy(r.out.begin(), r.out.end(), out.begin());
}
}  // namespace

void Copier::copy(const Node& n) {
  emit_copy(n, operands(n), dims, types_, std::span(env).subspan(n.result(), n.result_count()));
}
Vals copy_node(const Node& n, std::span<const Val> in, DimMap& dims) {
  Vals out(n.result_count());
  std::vector<Type> scratch;
  emit_copy(n, in, dims, scratch, out);
  return out;
}

void Copier::set(const Node& n, const Vals& results) {
  std::copy(results.begin(), results.end(), env.begin() + n.result());
}

void Copier::copy_constraints() {
  if (graph.constraints().empty()) return;
  std::unordered_set<std::uint32_t> entry;
  for (Symbol s : graph.dims()) entry.insert(s.id());
  auto unbound = [&](Symbol s) { return !entry.contains(s.id()) && !dims.find(s); };
  for (const Constraint& c : graph.constraints()) {
    if (c.a.mentions(unbound) || c.b.mentions(unbound)) continue;  // about work that was dropped
    Builder::current().require(
        {c.kind, c.a.substitute(dims), c.b.substitute(dims), c.what, c.place});
  }
}

Vals Copier::results() const {
  Vals r;
  for (ValueId v : graph.results()) r.push_back(env[v]);
  return r;
}
std::vector<Dim> Copier::result_dims() const {
  std::vector<Dim> r;
  for (Dim d : graph.result_dims()) r.push_back(d.substitute(dims));
  return r;
}

namespace {
/// What no choice of sizes could repair; TL-SHAPE-001.
void check_argument(const Graph& g, std::size_t k, Type have) {
  const Type want = g.type(static_cast<ValueId>(k));
  if (want.dtype() == have.dtype() && want.encoding() == have.encoding() &&
      want.rank() == have.rank()) {
    return;
  }
  throw UserError({"TL-SHAPE-001",
                   g.name(),
                   "argument " + std::to_string(k) + " is " + have.to_string() + " where " +
                       want.to_string() + " is expected",
                   "",
                   {}});
}

/// What g was built on about its entry dims must hold for the caller's sizes too.
void require_facts(const Graph& g, const DimMap& dims) {
  Builder& b = Builder::current();
  for (Symbol s : g.dims()) {
    const Dim* d = dims.find(s);
    if (!d) continue;
    const SymbolFacts& f = s.facts();
    const std::string what = g.name() + ": bounds of size " + f.name;
    if (f.lower > 0) b.require({Constraint::Kind::less_equal, f.lower, *d, what, {}});
    if (f.upper != SymbolFacts{}.upper) {
      b.require({Constraint::Kind::less_equal, *d, f.upper, what, {}});
    }
    if (f.multiple_of > 1) {
      b.require({Constraint::Kind::equal, mod(*d, f.multiple_of), 0, what, {}});
    }
  }
}
}  // namespace

void bind_entry_dims(const Graph& g, std::span<const Type> args, DimMap& dims) {
  internal_check(args.size() == g.param_count(), "wrong number of arguments");
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    const Type p = g.type(static_cast<ValueId>(k));
    if (!p.has_symbols()) continue;
    check_argument(g, k, args[k]);
    for (int i = 0; i < p.rank(); ++i) {
      if (auto s = p.dim(i).as_symbol(); s && !dims.find(*s)) dims.set(*s, args[k].dim(i));
    }
  }
  for (Symbol s : g.dims()) {
    if (dims.find(s)) continue;
    throw UserError({"TL-SHAPE-004",
                     g.name(),
                     "no argument's shape determines the size '" + s.name() + "'",
                     "pass the size explicitly",
                     {}});
  }
}

Inlined inline_graph(const Graph& g, std::span<const Val> args, std::span<const Dim> entry) {
  internal_check(args.size() == g.param_count(), "inline: wrong number of arguments");
  Builder& b = Builder::current();
  Copier c(g);
  std::vector<Type> types;
  for (std::size_t k = 0; k < args.size(); ++k) {
    c.env[k] = b.lift(args[k]);
    types.push_back(b.type(c.env[k]));
  }
  if (entry.empty()) {
    bind_entry_dims(g, types, c.dims);
  } else {
    internal_check(entry.size() == g.dims().size(), "inline: wrong number of entry dims");
    for (std::size_t i = 0; i < entry.size(); ++i) c.dims.set(g.dims()[i], entry[i]);
  }
  // Identity entries cost a substitution per node and change nothing.
  c.dims.drop_identities();
  require_facts(g, c.dims);
  for (std::size_t k = 0; k < args.size(); ++k) {
    const Type want = g.type(static_cast<ValueId>(k)).substitute(c.dims);
    if (want == types[k]) continue;
    check_argument(g, k, types[k]);
    for (int i = 0; i < want.rank(); ++i) {
      b.require({Constraint::Kind::equal,
                 types[k].dim(i),
                 want.dim(i),
                 "argument " + std::to_string(k) + ", axis " + std::to_string(i),
                 {}});
    }
  }
  b.expect(g);
  for (std::uint32_t i = 0; i < g.node_count(); ++i) c.copy(g.node(i));
  c.copy_constraints();
  return {c.results(), std::move(c.dims)};
}

DimMap region_map(const Region& region, const DimMap& outer) {
  DimMap map;
  for (std::size_t i = 0; i < region.dims.size(); ++i) {
    if (region.dims[i]) map.set(region.graph->dims()[i], region.dims[i]->substitute(outer));
  }
  return map;
}

Region make_region(GraphRef g, const DimMap& map) {
  Region r{std::move(g), {}};
  for (Symbol s : r.graph->dims()) r.dims.push_back(map.get(s));
  return r;
}

}  // namespace tlaloc::ir
