// Symbolic sizes: canonical integer polynomials over named symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tlaloc::ir {

/// What is known about a symbol. `typical` guides plans and costs only, never results.
struct SymbolFacts {
  std::string name;
  std::int64_t lower = 0;
  std::int64_t upper = std::numeric_limits<std::int64_t>::max();
  std::int64_t multiple_of = 1;
  std::int64_t typical = 16;
};

/// A named unknown size, unique in the process. A graph binds its symbols (entry dims from its
/// signature, computed dims from its nodes), so two graphs never share one by accident.
class Symbol {
 public:
  /// A new symbol, distinct from every other one. Thread-safe.
  static Symbol fresh(SymbolFacts facts);
  static Symbol fresh(std::string name) { return fresh(SymbolFacts{.name = std::move(name)}); }
  /// A new symbol with the facts of `like`.
  static Symbol like(Symbol like) { return fresh(like.facts()); }

  const SymbolFacts& facts() const;
  const std::string& name() const { return facts().name; }
  std::uint32_t id() const { return id_; }
  /// The symbol with this id; the id must come from id().
  static Symbol from_id(std::uint32_t id) { return Symbol(id); }
  auto operator<=>(const Symbol&) const = default;

 private:
  explicit Symbol(std::uint32_t id) : id_(id) {}
  std::uint32_t id_;
};

class DimMap;

/// A canonical polynomial over atoms (symbols, floordiv, mod, min, max), one word wide: an inline
/// constant or an interned expression. Equal words mean equal polynomials; unequal words may still
/// be provably equal through divisibility (see `equal`). Arithmetic is checked: TL-SIZE-001.
class Dim {
 public:
  Dim() : Dim(0) {}
  Dim(std::int64_t value);                      // NOLINT: a size is a dim
  Dim(int value) : Dim(std::int64_t{value}) {}  // NOLINT
  Dim(Symbol symbol);                           // NOLINT

  /// The largest size: one bit of a word tells constants from expressions.
  static constexpr std::int64_t kMax = (std::int64_t{1} << 62) - 1;

  bool is_constant() const { return word_ & 1; }
  /// The constant; only when is_constant().
  std::int64_t constant() const { return static_cast<std::int64_t>(word_) >> 1; }
  /// The symbol, if the dim is exactly one symbol.
  std::optional<Symbol> as_symbol() const;
  /// Distinct symbols in order of first appearance.
  std::vector<Symbol> symbols() const;
  void each_symbol(const std::function<void(Symbol)>& visit) const;
  bool mentions(const std::function<bool(Symbol)>& predicate) const;

  friend Dim operator+(Dim a, Dim b);
  friend Dim operator-(Dim a, Dim b);
  friend Dim operator*(Dim a, Dim b);
  Dim& operator+=(Dim other) { return *this = *this + other; }
  Dim& operator*=(Dim other) { return *this = *this * other; }
  /// Rounds toward minus infinity. A zero divisor is TL-SIZE-002.
  friend Dim floordiv(Dim a, Dim b);
  /// Sign of the divisor: a - b * floordiv(a, b).
  friend Dim mod(Dim a, Dim b);
  friend Dim min(Dim a, Dim b);
  friend Dim max(Dim a, Dim b);

  /// Simultaneous substitution.
  Dim substitute(const DimMap& map) const;
  /// The size under an environment; throws TL-SIZE-001 on overflow, InternalError on a symbol
  /// that the environment lacks.
  std::int64_t evaluate(const std::function<std::int64_t(Symbol)>& value_of) const;

  bool operator==(const Dim&) const = default;
  std::size_t hash() const { return std::hash<std::uint64_t>{}(word_); }
  std::uint64_t word() const { return word_; }

  using Namer = std::function<std::string(Symbol)>;
  /// Where symbols stand in a text; by id when empty. With a graph's own order, equal graphs print
  /// equally.
  using Order = std::function<std::uint32_t(Symbol)>;
  std::string to_string() const;
  std::string to_string(const Namer& namer, const Order& order = {}) const;

  struct Expr;
  /// The interned expression; only when not a constant. For dim.cc and the printer.
  const Expr* expr() const { return reinterpret_cast<const Expr*>(word_); }

 private:
  friend struct DimOps;
  struct FromWord {};
  Dim(FromWord, std::uint64_t word) : word_(word) {}
  std::uint64_t word_;
};

/// Ceiling division for positive divisors.
inline Dim ceildiv(Dim a, Dim b) { return floordiv(a + b - 1, b); }

/// Substitution of symbols by dims. Unmapped symbols stay.
class DimMap {
 public:
  DimMap() = default;
  bool empty() const { return map_.empty(); }
  void set(Symbol from, Dim to) { map_.insert_or_assign(from.id(), to); }
  const Dim* find(Symbol symbol) const {
    if (map_.empty()) return nullptr;
    auto it = map_.find(symbol.id());
    return it == map_.end() ? nullptr : &it->second;
  }
  Dim get(Symbol symbol) const {
    const Dim* d = find(symbol);
    return d ? *d : Dim(symbol);
  }
  /// Applies `next` to every target.
  void compose(const DimMap& next) {
    for (auto& [k, v] : map_) v = v.substitute(next);
  }
  void drop_identities() {
    std::erase_if(map_, [](const auto& e) { return e.second == Dim(Symbol::from_id(e.first)); });
  }

 private:
  std::unordered_map<std::uint32_t, Dim> map_;
};

enum class Truth { no, yes, unknown };

/// Three-valued comparison from polynomial identity, symbol bounds and divisibility.
Truth equal(Dim a, Dim b);
Truth less_equal(Dim a, Dim b);

struct Interval {
  std::int64_t lower;
  std::int64_t upper;
};
/// Bounds over all values of the symbols; saturating, never too tight.
Interval bounds(Dim d);
/// The value with every symbol at its typical size, as double (for costs).
double typical(Dim d);
/// `a` with `symbol` solved for, if a - b is linear in exactly that symbol with coefficient ±1.
/// This is how a constraint a == b becomes a substitution.
std::optional<std::pair<Symbol, Dim>> solve_equal(Dim a, Dim b);

}  // namespace tlaloc::ir
