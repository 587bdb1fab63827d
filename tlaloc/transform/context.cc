#include "tlaloc/transform/context.h"

#include <algorithm>

#include "tlaloc/ir/verify.h"
#include "tlaloc/transform/split.h"

namespace tlaloc::transform {

namespace {
thread_local int verified_depth = 0;
}

VerifiedScope::VerifiedScope() { ++verified_depth; }
VerifiedScope::~VerifiedScope() { --verified_depth; }

void verify_pass(const GraphRef& g) {
  if (verified_depth > 0) ir::verify(*g);
}
void verify_pass(const Masked& m) { verify_pass(m.graph); }
void verify_pass(const Batched& b) { verify_pass(b.graph); }
void verify_pass(const Split& s) {
  verify_pass(s.known);
  verify_pass(s.unknown);
}

Context::Context() : split(std::make_unique<Memo<Split>>()) {}
Context::~Context() = default;

std::vector<Type> substitute(std::span<const Type> types, const DimMap& map) {
  std::vector<Type> r;
  for (Type t : types) r.push_back(t.substitute(map));
  return r;
}
std::vector<Dim> substitute(std::span<const Dim> dims, const DimMap& map) {
  std::vector<Dim> r;
  for (Dim d : dims) r.push_back(d.substitute(map));
  return r;
}
std::vector<Symbol> fresh_bound(std::span<const Symbol> symbols, DimMap& map) {
  std::vector<Symbol> r;
  for (Symbol s : symbols) {
    r.push_back(Symbol::like(s));
    map.set(s, r.back());
  }
  return r;
}
void bind_dims(std::span<const Symbol> from, std::span<const Symbol> to, DimMap& map) {
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i) map.set(from[i], to[i]);
}

Mask used_params(const Graph& g) {
  Mask used(g.param_count());
  auto mark = [&](ValueId v) {
    if (g.is_param(v)) used[v] = true;
  };
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    for (ValueId v : g.node(i).operands()) mark(v);
  }
  for (ValueId v : g.results()) mark(v);
  return used;
}

std::vector<std::pair<Symbol, std::int64_t>> ragged_symbols(const Node& scan) {
  std::vector<std::pair<Symbol, std::int64_t>> r;
  if (scan.region_kind() != RegionKind::scan) return r;
  for (const ir::Ragged& x : scan.as<ScanAttrs>().ragged) {
    r.emplace_back(scan.region(0).graph->dims()[static_cast<std::size_t>(x.dim)], x.xs);
  }
  return r;
}
std::vector<std::pair<Symbol, std::int64_t>> only_in(
    std::vector<std::pair<Symbol, std::int64_t>> ragged, const Graph& g) {
  std::erase_if(ragged, [&](const auto& r) {
    return std::ranges::find(g.dims(), r.first) == g.dims().end();
  });
  return ragged;
}
std::vector<Append> substitute(std::vector<Append> append, const DimMap& map) {
  for (Append& a : append) {
    if (a.length) a.length = a.length->substitute(map);
  }
  return append;
}

CallAttrs plain_call(const CallAttrs& a, const std::string& suffix) {
  CallAttrs r = a;
  r.kind = CallKind::plain;
  r.n_residuals = 0;
  r.policy.clear();
  r.name += suffix;
  return r;
}

void refuse(const char* code, const ir::OpDef& op, const std::string& message,
            const std::string& hint, const ir::Origin& origin) {
  throw UserError({code, op.name, message, hint, origin.place});
}

}  // namespace tlaloc::transform
