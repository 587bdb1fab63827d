#include "tlaloc/ir/names.h"

#include <algorithm>
#include <array>

namespace tlaloc::ir {

std::string NameTable::unique(const std::string& wanted) {
  std::string name = wanted;
  while (!taken_.insert(name).second) name = wanted + "_" + std::to_string(++next_[wanted]);
  return name;
}

std::string to_identifier(std::string_view text) {
  auto is_alpha = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string s;
  for (const char c : text) s += is_alpha(c) || is_digit(c) || c == '.' || c == '_' ? c : '_';
  if (!s.empty() && !is_alpha(s[0]) && s[0] != '_') s.insert(s.begin(), '_');
  return s;
}

namespace {

std::string symbol_name(Symbol s) {
  // Words that mean something where a size may stand.
  static constexpr std::array<std::string_view, 6> kReserved{"floordiv", "mod",  "min",
                                                             "max",      "none", "_"};
  std::string name = to_identifier(s.name());
  if (name.empty()) name = "d";
  if (std::ranges::find(kReserved, name) != kReserved.end()) name += "_";
  return name;
}

std::string origin_name(const Origin& origin) {
  const std::string name = to_identifier(origin.name);
  if (name.empty() || origin.role == Role::primal) return name;
  return origin.role == Role::tangent ? name + "_dot" : "d_" + name;
}

}  // namespace

Names::Names(const Graph& g) {
  NameTable symbols, values;
  auto add_symbol = [&](Symbol s) {
    ranks_.emplace(s.id(), static_cast<std::uint32_t>(symbols_.size()));
    symbols_.push_back(symbols.unique(symbol_name(s)));
  };
  for (Symbol s : g.dims()) add_symbol(s);
  values_.resize(g.value_count());
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    const std::string name = to_identifier(g.param_label(k).name);
    if (!name.empty()) values_[k] = values.unique(name);
  }
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const Node n = g.node(i);
    for (Symbol s : n.bound()) add_symbol(s);
    std::string name = origin_name(n.origin());
    // Results after the first are named after the first: a text then reads back to the same names,
    // although a node has one origin.
    for (std::size_t k = 0; !name.empty() && k < n.result_count(); ++k) {
      values_[n.result(k)] = values.unique(name);
      if (k == 0) name = values_[n.result(k)];
    }
  }
}

std::string Names::symbol(Symbol s) const {
  auto it = ranks_.find(s.id());
  return it == ranks_.end() ? "?" + s.name() : symbols_[it->second];
}
std::uint32_t Names::rank(Symbol s) const {
  auto it = ranks_.find(s.id());
  return it == ranks_.end() ? static_cast<std::uint32_t>(symbols_.size()) + s.id() : it->second;
}
std::string Names::value(ValueId v) const {
  return values_[v].empty() ? std::to_string(v) : values_[v];
}

}  // namespace tlaloc::ir
