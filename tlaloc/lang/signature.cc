#include "tlaloc/lang/signature.h"

#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/builder.h"

namespace tlaloc::core {
namespace {

/// Symbols for signatures. A program that calls grad in a loop must not make new symbols forever,
/// so outside of any trace the same ones serve again; inside, another trace may use them.
class SymbolPool {
 public:
  ir::Symbol get(const void* tag, int ordinal, const ir::SymbolFacts& facts) {
    if (ir::Builder::active()) return ir::Symbol::fresh(facts);
    const std::lock_guard lock(mutex_);
    const auto key = std::tuple(tag, ordinal, facts.upper, facts.name);
    auto it = symbols_.find(key);
    if (it == symbols_.end()) it = symbols_.emplace(key, ir::Symbol::fresh(facts)).first;
    return it->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<const void*, int, std::int64_t, std::string>, ir::Symbol> symbols_;
};
SymbolPool& pool() {
  static auto& p = *new SymbolPool;
  return p;
}

/// Hands out the symbols of one signature.
class Opener {
 public:
  explicit Opener(Signature& out) : out_(out) {}

  ir::Dim open(const AxisSpec& axis) {
    ir::SymbolFacts facts;
    facts.name = axis.name ? axis.name : "n";
    if (axis.bound >= 0) facts.upper = axis.bound;
    if (!axis.tag) return add(pool().get(nullptr, anonymous_++, facts));
    auto it = named_.find(axis.tag);
    if (it == named_.end()) {
      it = named_.emplace(axis.tag, add(pool().get(axis.tag, 0, facts))).first;
    }
    return it->second;
  }
  /// A size that belongs to an outer trace: equal sizes stay equal.
  ir::Dim open(ir::Dim outer, AxisLabel label) {
    if (outer.is_constant()) return outer;
    auto it = outer_.find(outer.word());
    if (it == outer_.end()) {
      ir::SymbolFacts facts;
      facts.name = label.name ? label.name : "n";
      it = outer_.emplace(outer.word(), add(ir::Symbol::fresh(facts))).first;
    }
    return it->second;
  }

 private:
  ir::Symbol add(ir::Symbol s) {
    out_.own.push_back(s);
    return s;
  }
  Signature& out_;
  int anonymous_ = 0;
  std::unordered_map<const void*, ir::Dim> named_;
  std::unordered_map<std::uint64_t, ir::Dim> outer_;
};

AxisSpec named(AxisLabel label) { return {.name = label.name, .tag = label.tag}; }

}  // namespace

Signature exact_signature(const Leaves& args) {
  Signature s;
  const Leaves::Data& d = args.data();
  for (std::size_t i = 0; i < d.values.size(); ++i) {
    const Node& n = node(d.values[i]);
    s.types.push_back(n.type);
    s.labels.push_back(d.info[i].typed ? labels_of(d.info[i].axes) : n.labels);
  }
  return s;
}

Signature open_signature(const Leaves& args) {
  Signature s;
  Opener opener(s);
  const Leaves::Data& d = args.data();
  for (std::size_t i = 0; i < d.values.size(); ++i) {
    const Node& n = node(d.values[i]);
    const LeafInfo& info = d.info[i];
    std::vector<ir::Dim> shape;
    for (int k = 0; k < n.type.rank(); ++k) {
      if (info.typed) {
        const AxisSpec& axis = info.axes[static_cast<std::size_t>(k)];
        shape.push_back(axis.size >= 0 ? ir::Dim(axis.size) : opener.open(axis));
      } else if (n.traced()) {
        shape.push_back(opener.open(n.type.dim(k), n.label(k)));
      } else {
        shape.push_back(n.label(k).tag ? opener.open(named(n.label(k))) : n.type.dim(k));
      }
    }
    s.types.push_back(ir::Type::get(n.type.dtype(), shape, n.type.encoding()));
    s.labels.push_back(info.typed ? labels_of(info.axes) : n.labels);
  }
  return s;
}

Signature signature_of(const Leaves& args) {
  return any_traced(args.data().values) ? exact_signature(args) : open_signature(args);
}

void require_agreement(const OpCall& call, const Leaves& args) {
  const Leaves::Data& d = args.data();
  struct Seen {
    std::size_t leaf;
    std::int64_t size;
  };
  std::unordered_map<const void*, Seen> seen;
  for (std::size_t i = 0; i < d.values.size(); ++i) {
    const Node& n = node(d.values[i]);
    const LeafInfo& info = d.info[i];
    if (info.typed && static_cast<int>(info.axes.size()) != n.type.rank()) {
      throw InternalError("a leaf's value has another rank than its type");
    }
    for (int k = 0; k < n.type.rank(); ++k) {
      const AxisLabel label = info.typed ? AxisLabel{info.axes[static_cast<std::size_t>(k)].name,
                                                     info.axes[static_cast<std::size_t>(k)].tag}
                                         : n.label(k);
      const ir::Dim size = n.type.dim(k);
      // Where the type has the size, it is part of the axis's identity.
      const bool fixed = info.typed && info.axes[static_cast<std::size_t>(k)].size >= 0;
      if (!label.tag || fixed || !size.is_constant()) continue;
      const auto [it, fresh] = seen.emplace(label.tag, Seen{i, size.constant()});
      if (fresh || it->second.size == size.constant()) continue;
      const Seen& other = it->second;
      throw UserError({"TL-SHAPE-011", call.name,
                       "axis " + std::string(label.name) + " is " + std::to_string(other.size) +
                           " in " + d.path(other.leaf) + " and " + std::to_string(size.constant()) +
                           " in " + d.path(i) + ": " + describe(d.values[other.leaf]) + " and " +
                           describe(d.values[i]),
                       "within one call an axis has one size", user_place(call.where)});
    }
  }
}

}  // namespace tlaloc::core
