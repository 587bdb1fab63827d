// Shared by the passes of one transform: memo tables and small helpers; internal.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::transform {

using ir::Append;
using ir::Builder;
using ir::CallAttrs;
using ir::CallKind;
using ir::Dim;
using ir::DimMap;
using ir::emit_call;
using ir::emit_if;
using ir::emit_manual;
using ir::emit_scan;
using ir::emit_while;
using ir::IfAttrs;
using ir::make_region;
using ir::ManualAttrs;
using ir::Node;
using ir::ParamSpec;
using ir::Region;
using ir::region_map;
using ir::RegionKind;
using ir::ScanAttrs;
using ir::ShardSpec;
using ir::Symbol;
using ir::Type;
using ir::Val;
using ir::Vals;
using ir::ValueId;
using ir::WhileAttrs;

/// A byte key for memo tables.
class Key {
 public:
  Key& operator<<(const GraphRef& g) { return bytes(g.get()); }
  Key& operator<<(const Mask& m) {
    text_ += static_cast<char>(m.size());
    text_ += static_cast<char>(m.size() >> 8);
    for (bool b : m) text_ += b ? '1' : '0';
    return *this;
  }
  Key& operator<<(int v) { return bytes(v); }
  Key& operator<<(Dim d) { return bytes(d.word()); }
  bool operator<(const Key& o) const { return text_ < o.text_; }

 private:
  template <class T>
  Key& bytes(T v) {
    text_.append(reinterpret_cast<const char*>(&v), sizeof v);
    return *this;
  }
  std::string text_;
};

/// A graph and which of its optional results exist.
struct Masked {
  GraphRef graph;
  Mask out;
};
struct Batched {
  GraphRef graph;
  Mask out;      ///< results with lanes
  Mask lengths;  ///< result dims that are ragged: their lengths are extra results
};
struct Split;
class DeviceLanes;

/// Runs the verifier on a pass's graphs while a VerifiedScope lives.
void verify_pass(const GraphRef& g);
void verify_pass(const Masked& m);
void verify_pass(const Batched& b);
void verify_pass(const Split& s);

/// Results by key. Region bodies are transformed again and again by the fixpoints over loops; each
/// distinct request is computed once. Keeps the graphs of its keys alive, so addresses stay unique.
template <class R>
class Memo {
 public:
  const R* find(const Key& key) const {
    auto it = map_.find(key);
    return it == map_.end() ? nullptr : it->second.get();
  }
  const R& put(const Key& key, GraphRef keep, R result) {
    verify_pass(result);
    keep_.push_back(std::move(keep));
    return *(map_[key] = std::make_unique<R>(std::move(result)));
  }

 private:
  std::map<Key, std::unique_ptr<R>> map_;
  std::vector<GraphRef> keep_;
};

/// One per top-level call of a transform; not shared between threads.
struct Context {
  Context();
  ~Context();
  Memo<Masked> jvp, transpose;
  Memo<GraphRef> dce;
  Memo<Batched> batch;
  std::unique_ptr<Memo<Split>> split;
  const DeviceLanes* devices = nullptr;  ///< what the lanes of `batch` stand for, if for devices
};

// ---- masks and lists ----

template <class T>
std::vector<T> pick(const std::vector<T>& xs, const Mask& mask) {
  std::vector<T> r;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (mask[i]) r.push_back(xs[i]);
  }
  return r;
}
template <class T>
std::vector<T> slice_of(const std::vector<T>& xs, std::size_t from, std::size_t count) {
  return {xs.begin() + static_cast<std::ptrdiff_t>(from),
          xs.begin() + static_cast<std::ptrdiff_t>(from + count)};
}
template <class T, class... Rest>
std::vector<T> join(std::vector<T> first, const Rest&... rest) {
  (first.insert(first.end(), rest.begin(), rest.end()), ...);
  return first;
}
inline std::size_t count(const Mask& m) {
  std::size_t n = 0;
  for (bool b : m) n += b;
  return n;
}
inline bool any(const Mask& m) { return count(m) > 0; }
inline Mask negated(Mask m) {
  m.flip();
  return m;
}
inline Mask either(Mask a, const Mask& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] || b[i];
  return a;
}
inline Mask present(const Vals& vs) {
  Mask m;
  for (Val v : vs) m.push_back(static_cast<bool>(v));
  return m;
}
/// Those that are present, in order.
inline Vals present_only(const Vals& vs) { return pick(vs, present(vs)); }

/// 0, 1, …, n-1 as params kept in place.
inline std::vector<ParamSpec> same_params(std::size_t from, std::size_t count) {
  std::vector<ParamSpec> r;
  for (std::size_t i = 0; i < count; ++i) r.push_back({static_cast<std::uint32_t>(from + i), {}});
  return r;
}
inline std::vector<ValueId> results_of(const Graph& g) {
  return {g.results().begin(), g.results().end()};
}

/// Types under a substitution.
std::vector<Type> substitute(std::span<const Type> types, const DimMap& map);
std::vector<Dim> substitute(std::span<const Dim> dims, const DimMap& map);
/// A fresh symbol for each, recorded in `map`.
std::vector<Symbol> fresh_bound(std::span<const Symbol> symbols, DimMap& map);
/// After emission: what interning answered. For K symbols in order.
void bind_dims(std::span<const Symbol> from, std::span<const Symbol> to, DimMap& map);
/// Which params some node or result reads.
Mask used_params(const Graph& g);
/// Body entry symbols of a scan that are bound per iteration, with the xs that hold their lengths.
std::vector<std::pair<Symbol, std::int64_t>> ragged_symbols(const Node& scan);
/// Those whose symbol is an entry dim of g.
std::vector<std::pair<Symbol, std::int64_t>> only_in(
    std::vector<std::pair<Symbol, std::int64_t>> ragged, const Graph& g);
/// Appends with their lengths under a substitution.
std::vector<Append> substitute(std::vector<Append> append, const DimMap& map);

/// The attributes of a plain call that stands for a part of `a`, which may have been a declared
/// one.
CallAttrs plain_call(const CallAttrs& a, const std::string& suffix);

[[noreturn]] void refuse(const char* code, const ir::OpDef& op, const std::string& message,
                         const std::string& hint, const ir::Origin& origin);

}  // namespace tlaloc::transform
