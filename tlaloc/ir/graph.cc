#include "tlaloc/ir/graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tlaloc/ir/builder.h"

namespace tlaloc::ir {

std::vector<Type> Graph::result_types() const {
  std::vector<Type> r;
  for (ValueId v : results_) r.push_back(types_[v]);
  return r;
}

namespace {
/// Visits every dim of a graph in the canonical order that numbers binders: params, then per node
/// attributes, region dims and result types, then results.
template <class OnDim>
void each_dim(const Graph& g, const OnDim& on_dim) {
  auto on_type = [&](Type t) {
    if (t.has_symbols()) {
      for (Dim d : t.shape()) on_dim(d);
    }
  };
  for (Type t : g.param_types()) on_type(t);
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const Node n = g.node(i);
    if (n.attr() && n.attr()->has_dims()) n.attr()->each_dim(on_dim);
    for (const Region& r : n.regions()) {
      for (const auto& d : r.dims) {
        if (d) on_dim(*d);
      }
    }
    for (Type t : n.result_types()) on_type(t);
  }
  for (Dim d : g.result_dims()) on_dim(d);
}
}  // namespace

std::vector<Symbol> Graph::bound() const {
  std::vector<Symbol> r;
  for (const NodeParts& p : parts_) r.insert(r.end(), p.bound.begin(), p.bound.end());
  return r;
}

const Label& Graph::label(const std::vector<Label>& labels, std::size_t k) {
  static const Label& none = *new Label;
  return k < labels.size() ? labels[k] : none;
}

void Graph::collect_dims(std::span<const Symbol> first) {
  std::unordered_set<std::uint32_t> seen;
  for (Symbol s : bound()) seen.insert(s.id());
  dims_.clear();
  each_dim(*this, [&](Dim d) {
    if (d.is_constant()) return;
    d.each_symbol([&](Symbol s) {
      if (seen.insert(s.id()).second) dims_.push_back(s);
    });
  });
  if (first.empty()) return;
  std::unordered_set<std::uint32_t> rest;
  for (Symbol s : dims_) rest.insert(s.id());
  std::vector<Symbol> ordered;
  auto take = [&](Symbol s) {
    if (rest.erase(s.id())) ordered.push_back(s);
  };
  std::ranges::for_each(first, take);
  std::ranges::for_each(dims_, take);
  dims_ = std::move(ordered);
}

namespace {
/// What graphs may be built on: two that assume different things of a size are different.
bool same_facts(Symbol a, Symbol b) {
  const SymbolFacts &x = a.facts(), &y = b.facts();
  return x.lower == y.lower && x.upper == y.upper && x.multiple_of == y.multiple_of;
}
void hash_facts(Hasher& h, std::span<const Symbol> symbols) {
  h.add(symbols.size());
  for (Symbol s : symbols) {
    h.add(static_cast<std::uint64_t>(s.facts().lower));
    h.add(static_cast<std::uint64_t>(s.facts().upper));
    h.add(static_cast<std::uint64_t>(s.facts().multiple_of));
  }
}
}  // namespace

std::uint64_t Graph::content_hash() const {
  if (std::uint64_t known = hash_.load(std::memory_order_relaxed)) return known;
  std::unordered_map<std::uint32_t, std::uint64_t> position;
  for (Symbol s : dims_) position.emplace(s.id(), position.size() + 1);
  const std::vector<Symbol> bound = this->bound();
  for (Symbol s : bound) position.emplace(s.id(), position.size() + 1);
  Hasher h([&](Symbol s) {
    auto it = position.find(s.id());
    return it == position.end() ? 0 : it->second;
  });
  // Every list is preceded by its length: two graphs must not differ by where one list ends.
  hash_facts(h, dims_);
  hash_facts(h, bound);
  h.add(param_count_);
  for (Type t : param_types()) h.add(t);
  for (std::uint32_t i = 0; i < node_count(); ++i) {
    const Node n = node(i);
    h.add_bytes(n.op().name, std::char_traits<char>::length(n.op().name));
    h.add(n.operands().size());
    for (ValueId v : n.operands()) h.add(v);
    h.add(n.attr() != nullptr);
    if (n.attr()) n.attr()->hash(h);
    h.add(n.regions().size());
    for (const Region& r : n.regions()) {
      h.add(r.graph->content_hash());
      for (const auto& d : r.dims) {
        if (d)
          h.add(*d);
        else
          h.add(std::uint64_t{0x51});
      }
    }
    h.add(n.result_count());
    for (Type t : n.result_types()) h.add(t);
    h.add(n.bound().size());
  }
  h.add(results_.size());
  for (ValueId v : results_) h.add(v);
  h.add(result_dims_.size());
  for (Dim d : result_dims_) h.add(d);
  for (const Constraint& c : constraints_) {
    h.add(static_cast<std::uint64_t>(c.kind));
    h.add(c.a);
    h.add(c.b);
  }
  const std::uint64_t value = h.value() ? h.value() : 1;
  hash_.store(value, std::memory_order_relaxed);
  return value;
}

bool same_graph(const Graph& a, const Graph& b) {
  if (&a == &b) return true;
  if (a.param_count_ != b.param_count_ || a.nodes_.size() != b.nodes_.size() ||
      a.types_.size() != b.types_.size() || a.results_ != b.results_ ||
      a.operands_ != b.operands_ || a.dims_.size() != b.dims_.size() ||
      a.parts_.size() != b.parts_.size() || a.result_dims_.size() != b.result_dims_.size() ||
      a.constraints_.size() != b.constraints_.size() || a.content_hash() != b.content_hash()) {
    return false;
  }
  const std::vector<Symbol> a_bound = a.bound(), b_bound = b.bound();
  if (!std::ranges::equal(a.dims_, b.dims_, same_facts) ||
      !std::ranges::equal(a_bound, b_bound, same_facts)) {
    return false;
  }
  DimMap to_a;
  for (std::size_t i = 0; i < a.dims_.size(); ++i) to_a.set(b.dims_[i], a.dims_[i]);
  for (std::size_t i = 0; i < a_bound.size(); ++i) to_a.set(b_bound[i], a_bound[i]);
  for (std::size_t i = 0; i < a.types_.size(); ++i) {
    if (a.types_[i] != b.types_[i].substitute(to_a)) return false;
  }
  for (std::uint32_t i = 0; i < a.node_count(); ++i) {
    const Node x = a.node(i), y = b.node(i);
    if (&x.op() != &y.op() || x.regions().size() != y.regions().size() ||
        !std::ranges::equal(x.operands(), y.operands()) || x.result_count() != y.result_count() ||
        x.bound().size() != y.bound().size() || !x.attr() != !y.attr()) {
      return false;
    }
    if (x.attr() && x.attr() != y.attr()) {
      const bool same = y.attr()->has_dims() ? y.attr()->substitute(to_a)->equals(*x.attr())
                                             : y.attr()->equals(*x.attr());
      if (!same) return false;
    }
    for (std::size_t k = 0; k < x.regions().size(); ++k) {
      const Region &p = x.region(k), &q = y.region(k);
      if (p.dims.size() != q.dims.size() || !same_graph(*p.graph, *q.graph)) return false;
      for (std::size_t d = 0; d < p.dims.size(); ++d) {
        if (p.dims[d].has_value() != q.dims[d].has_value()) return false;
        if (p.dims[d] && *p.dims[d] != q.dims[d]->substitute(to_a)) return false;
      }
    }
  }
  for (std::size_t i = 0; i < a.result_dims_.size(); ++i) {
    if (a.result_dims_[i] != b.result_dims_[i].substitute(to_a)) return false;
  }
  for (std::size_t i = 0; i < a.constraints_.size(); ++i) {
    const Constraint &p = a.constraints_[i], &q = b.constraints_[i];
    if (p.kind != q.kind || p.a != q.a.substitute(to_a) || p.b != q.b.substitute(to_a)) {
      return false;
    }
  }
  return true;
}

std::uint64_t GraphAttr::content_hash() const { return graph ? graph->content_hash() : 0; }
bool operator==(const GraphAttr& a, const GraphAttr& b) {
  return a.graph == b.graph || (a.graph && b.graph && same_graph(*a.graph, *b.graph));
}

}  // namespace tlaloc::ir
