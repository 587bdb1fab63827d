#include "tlaloc/ir/dim.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <unordered_set>

#include "tlaloc/base/checked.h"
#include "tlaloc/base/error.h"
#include "tlaloc/ir/dim_expr.h"

namespace tlaloc::ir {
namespace {

// One bit of a constant is its tag. Sizes beyond 2^62 are absurd and refused like an overflow;
// coefficients too, so that arithmetic on two of them needs no care.
void check_range(std::int64_t value) {
  if (value > Dim::kMax || value < -Dim::kMax - 1) {
    throw_size_overflow();
  }
}

}  // namespace

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  if (b == 0) throw UserError({"TL-SIZE-002", "dim", "division of a size by zero", "", {}});
  if (b == -1) return checked_mul(a, -1);
  const std::int64_t q = a / b;
  return q - (a % b != 0 && (a < 0) != (b < 0));
}

namespace {

std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  if (b == 0) floor_div(a, b);  // which refuses it
  if (b == -1) return 0;        // a % b is undefined for the least integer
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

struct SymbolTable {
  std::shared_mutex mutex;
  std::deque<SymbolFacts> facts;  // a deque: references stay valid while it grows
};
SymbolTable& symbol_table() {
  static auto* table = new SymbolTable;  // never destroyed: symbols outlive static objects
  return *table;
}

struct ExprHash {
  using is_transparent = void;
  std::size_t operator()(const std::unique_ptr<Dim::Expr>& e) const { return e->hash; }
  std::size_t operator()(const Dim::Expr& e) const { return e.hash; }
};
struct ExprEqual {
  using is_transparent = void;
  bool operator()(const std::unique_ptr<Dim::Expr>& a, const std::unique_ptr<Dim::Expr>& b) const {
    return a->terms == b->terms;
  }
  bool operator()(const Dim::Expr& a, const std::unique_ptr<Dim::Expr>& b) const {
    return a.terms == b->terms;
  }
  bool operator()(const std::unique_ptr<Dim::Expr>& a, const Dim::Expr& b) const {
    return a->terms == b.terms;
  }
};
struct ExprTable {
  std::mutex mutex;
  std::unordered_set<std::unique_ptr<Dim::Expr>, ExprHash, ExprEqual> set;
};
ExprTable& expr_table() {
  static auto* table = new ExprTable;  // interned for the life of the process
  return *table;
}

std::size_t mix(std::size_t h, std::size_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u + (h >> 29); }
std::size_t hash_terms(const std::vector<DimTerm>& terms) {
  std::size_t h = terms.size();
  for (const DimTerm& t : terms) {
    h = mix(h, static_cast<std::size_t>(t.coefficient));
    for (const DimAtom& a : t.atoms) {
      h = mix(h, static_cast<std::size_t>(a.kind));
      h = mix(h, a.symbol);
      h = mix(mix(h, a.a.word()), a.b.word());
    }
  }
  return h;
}

int compare(Dim a, Dim b);
int compare(const DimAtom& a, const DimAtom& b) {
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.symbol != b.symbol) return a.symbol < b.symbol ? -1 : 1;
  if (a.kind == DimAtomKind::symbol) return 0;
  if (int c = compare(a.a, b.a)) return c;
  return compare(a.b, b.b);
}
// Higher degree first, so that "n*m + n + 1" reads as people write it.
int compare_monomials(const std::vector<DimAtom>& a, const std::vector<DimAtom>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (int c = compare(a[i], b[i])) return c;
  }
  return 0;
}
int compare(Dim a, Dim b) {
  if (a == b) return 0;
  const auto x = terms_of(a), y = terms_of(b);
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
    if (int c = compare_monomials(x[i].atoms, y[i].atoms)) return c;
    if (x[i].coefficient != y[i].coefficient) {
      return x[i].coefficient < y[i].coefficient ? -1 : 1;
    }
  }
  return x.size() < y.size() ? -1 : 1;
}

}  // namespace

bool operator==(const DimAtom& a, const DimAtom& b) {
  return a.kind == b.kind && a.symbol == b.symbol && a.a == b.a && a.b == b.b;
}

/// Canonicalizes and interns; the only door to Dim's private constructor.
struct DimOps {
  static Dim make(std::vector<DimTerm> terms) {
    std::sort(terms.begin(), terms.end(), [](const DimTerm& a, const DimTerm& b) {
      return compare_monomials(a.atoms, b.atoms) < 0;
    });
    std::vector<DimTerm> merged;
    for (DimTerm& t : terms) {
      if (!merged.empty() && compare_monomials(merged.back().atoms, t.atoms) == 0) {
        merged.back().coefficient = checked_add(merged.back().coefficient, t.coefficient);
      } else {
        merged.push_back(std::move(t));
      }
    }
    std::erase_if(merged, [](const DimTerm& t) { return t.coefficient == 0; });
    for (const DimTerm& t : merged) check_range(t.coefficient);
    if (merged.empty()) return Dim(std::int64_t{0});
    if (merged.size() == 1 && merged[0].atoms.empty()) return Dim(merged[0].coefficient);
    Dim::Expr key{std::move(merged), 0};
    key.hash = hash_terms(key.terms);
    ExprTable& table = expr_table();
    std::lock_guard lock(table.mutex);
    auto it = table.set.find(key);
    if (it == table.set.end()) {
      key.conclude();
      it = table.set.insert(std::make_unique<Dim::Expr>(std::move(key))).first;
    }
    return Dim(Dim::FromWord{}, reinterpret_cast<std::uint64_t>(it->get()));
  }
  static Dim atom(DimAtom a) { return make({{{std::move(a)}, 1}}); }
};

std::vector<DimTerm> terms_of(Dim d) {
  if (!d.is_constant()) return d.expr()->terms;
  if (d.constant() == 0) return {};
  return {{{}, d.constant()}};
}
std::vector<DimTerm> multiply(std::span<const DimTerm> a, std::span<const DimTerm> b) {
  std::vector<DimTerm> terms;
  terms.reserve(a.size() * b.size());
  for (const DimTerm& x : a) {
    for (const DimTerm& y : b) {
      DimTerm t{x.atoms, checked_mul(x.coefficient, y.coefficient)};
      t.atoms.insert(t.atoms.end(), y.atoms.begin(), y.atoms.end());
      terms.push_back(std::move(t));
    }
  }
  return terms;
}
Dim make_dim(std::vector<DimTerm> terms) {
  for (DimTerm& t : terms) {
    std::sort(t.atoms.begin(), t.atoms.end(),
              [](const DimAtom& p, const DimAtom& q) { return compare(p, q) < 0; });
  }
  return DimOps::make(std::move(terms));
}

Symbol Symbol::fresh(SymbolFacts facts) {
  internal_check(facts.lower <= facts.upper && facts.multiple_of >= 1,
                 "a symbol's facts admit no value");
  SymbolTable& table = symbol_table();
  std::unique_lock lock(table.mutex);
  table.facts.push_back(std::move(facts));
  return Symbol(static_cast<std::uint32_t>(table.facts.size() - 1));
}
const SymbolFacts& Symbol::facts() const {
  SymbolTable& table = symbol_table();
  std::shared_lock lock(table.mutex);
  return table.facts[id_];
}

Dim::Dim(std::int64_t value) {
  check_range(value);
  word_ = (static_cast<std::uint64_t>(value) << 1) | 1;
}
Dim::Dim(Symbol symbol) {
  *this = DimOps::atom({DimAtomKind::symbol, symbol.id(), Dim(0), Dim(0)});
}

std::optional<Symbol> Dim::as_symbol() const {
  if (is_constant()) return std::nullopt;
  const auto& t = expr()->terms;
  if (t.size() == 1 && t[0].coefficient == 1 && t[0].atoms.size() == 1 &&
      t[0].atoms[0].kind == DimAtomKind::symbol) {
    return Symbol::from_id(t[0].atoms[0].symbol);
  }
  return std::nullopt;
}

void Dim::each_symbol(const std::function<void(Symbol)>& visit) const {
  if (is_constant()) return;
  for (std::uint32_t id : expr()->symbols) visit(Symbol::from_id(id));
}
std::vector<Symbol> Dim::symbols() const {
  std::vector<Symbol> r;
  each_symbol([&](Symbol s) { r.push_back(s); });
  return r;
}
bool Dim::mentions(const std::function<bool(Symbol)>& predicate) const {
  if (is_constant()) return false;
  return std::ranges::any_of(expr()->symbols,
                             [&](std::uint32_t id) { return predicate(Symbol::from_id(id)); });
}

Dim operator+(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return Dim(checked_add(a.constant(), b.constant()));
  auto terms = terms_of(a);
  for (DimTerm& t : terms_of(b)) terms.push_back(std::move(t));
  return DimOps::make(std::move(terms));
}
Dim operator-(Dim a, Dim b) { return a + b * Dim(-1); }
Dim operator*(Dim a, Dim b) {
  if (a.is_constant() && b.is_constant()) return Dim(checked_mul(a.constant(), b.constant()));
  return make_dim(multiply(terms_of(a), terms_of(b)));
}

std::int64_t known_divisor(const DimTerm& t) {
  std::int64_t d = std::abs(t.coefficient);
  for (const DimAtom& a : t.atoms) {
    if (a.kind == DimAtomKind::symbol) {
      std::int64_t r;
      const std::int64_t m = Symbol::from_id(a.symbol).facts().multiple_of;
      if (m > 1 && !__builtin_mul_overflow(d, m, &r)) d = r;
    }
  }
  return d;
}
bool divisible(Dim d, std::int64_t b) {
  for (const DimTerm& t : terms_of(d)) {
    if (known_divisor(t) % b != 0) return false;
  }
  return true;
}

namespace {
/// d = b * whole + rest, where the coefficients of `whole` are exact quotients.
std::pair<Dim, Dim> split_multiples(Dim d, std::int64_t b) {
  std::vector<DimTerm> whole, rest;
  for (DimTerm& t : terms_of(d)) {
    if (t.atoms.empty()) {
      const std::int64_t q = floor_div(t.coefficient, b);
      if (q) whole.push_back({{}, q});
      if (std::int64_t r = t.coefficient - q * b) rest.push_back({{}, r});
    } else if (t.coefficient % b == 0) {
      whole.push_back({t.atoms, t.coefficient / b});
    } else {
      rest.push_back(std::move(t));
    }
  }
  return {DimOps::make(std::move(whole)), DimOps::make(std::move(rest))};
}
}  // namespace

Dim floordiv(Dim a, Dim b) {
  if (b.is_constant()) {
    const std::int64_t divisor = b.constant();
    if (a.is_constant()) return Dim(floor_div(a.constant(), divisor));
    if (divisor == 0) floor_div(1, 0);
    if (divisor == 1) return a;
    if (divisor == -1) return a * Dim(-1);
    if (divisor > 0) {
      auto [whole, rest] = split_multiples(a, divisor);
      const Interval range = bounds(rest);
      if (range.lower >= 0 && range.upper < divisor) return whole;
      if (whole != Dim(0)) return whole + floordiv(rest, b);
    }
  } else if (a == b && bounds(b).lower > 0) {
    return Dim(1);
  }
  return DimOps::atom({DimAtomKind::floordiv, 0, a, b});
}

Dim mod(Dim a, Dim b) {
  if (b.is_constant()) {
    const std::int64_t divisor = b.constant();
    if (a.is_constant()) return Dim(floor_mod(a.constant(), divisor));
    if (divisor == 0) floor_div(1, 0);
    if (divisor == 1 || divisor == -1) return Dim(0);
    if (divisor > 0) {
      if (divisible(a, divisor)) return Dim(0);
      auto [whole, rest] = split_multiples(a, divisor);
      const Interval range = bounds(rest);
      if (range.lower >= 0 && range.upper < divisor) return rest;
      a = rest;
    }
  }
  return DimOps::atom({DimAtomKind::mod, 0, a, b});
}

Dim min(Dim a, Dim b) {
  if (less_equal(a, b) == Truth::yes) return a;
  if (less_equal(b, a) == Truth::yes) return b;
  if (compare(a, b) > 0) std::swap(a, b);
  return DimOps::atom({DimAtomKind::min, 0, a, b});
}
Dim max(Dim a, Dim b) {
  if (less_equal(a, b) == Truth::yes) return b;
  if (less_equal(b, a) == Truth::yes) return a;
  if (compare(a, b) > 0) std::swap(a, b);
  return DimOps::atom({DimAtomKind::max, 0, a, b});
}

namespace {
class Substitution {
 public:
  explicit Substitution(const DimMap& map) : map_(map) {}
  Dim operator()(Dim d) {
    if (!d.mentions([&](Symbol s) { return map_.find(s) != nullptr; })) return d;
    if (auto s = d.as_symbol()) return map_.get(*s);
    if (!d.expr()->deep()) return of_terms(d);
    if (auto it = done_.find(d.word()); it != done_.end()) return it->second;
    const Dim r = of_terms(d);
    done_.emplace(d.word(), r);
    return r;
  }

 private:
  Dim of_terms(Dim d) {
    std::vector<DimTerm> sum;
    for (const DimTerm& t : d.expr()->terms) {
      // Merged at each step: a power of a sum has few terms in the end, but many on the way.
      Dim product(t.coefficient);
      for (const DimAtom& a : t.atoms) product *= of_atom(a);
      for (DimTerm& p : terms_of(product)) sum.push_back(std::move(p));
    }
    return make_dim(std::move(sum));
  }
  Dim of_atom(const DimAtom& a) {
    if (a.kind == DimAtomKind::symbol) return map_.get(Symbol::from_id(a.symbol));
    const Dim x = (*this)(a.a), y = (*this)(a.b);
    switch (a.kind) {
      case DimAtomKind::floordiv:
        return floordiv(x, y);
      case DimAtomKind::mod:
        return mod(x, y);
      case DimAtomKind::min:
        return min(x, y);
      default:
        return max(x, y);
    }
  }

  const DimMap& map_;
  std::unordered_map<std::uint64_t, Dim> done_;  // deep dims by word
};

class Evaluation {
 public:
  explicit Evaluation(const std::function<std::int64_t(Symbol)>& value_of) : value_of_(value_of) {}
  std::int64_t operator()(Dim d) {
    if (d.is_constant()) return d.constant();
    if (!d.expr()->deep()) return of_terms(d);
    if (auto it = done_.find(d.word()); it != done_.end()) return it->second;
    const std::int64_t r = of_terms(d);
    done_.emplace(d.word(), r);
    return r;
  }

 private:
  std::int64_t of_terms(Dim d) {
    std::int64_t sum = 0;
    for (const DimTerm& t : d.expr()->terms) {
      std::int64_t product = t.coefficient;
      for (const DimAtom& a : t.atoms) product = checked_mul(product, of_atom(a));
      sum = checked_add(sum, product);
    }
    return sum;
  }
  std::int64_t of_atom(const DimAtom& a) {
    if (a.kind == DimAtomKind::symbol) return value_of_(Symbol::from_id(a.symbol));
    const std::int64_t x = (*this)(a.a), y = (*this)(a.b);
    switch (a.kind) {
      case DimAtomKind::floordiv:
        return floor_div(x, y);
      case DimAtomKind::mod:
        return floor_mod(x, y);
      case DimAtomKind::min:
        return std::min(x, y);
      default:
        return std::max(x, y);
    }
  }

  const std::function<std::int64_t(Symbol)>& value_of_;
  std::unordered_map<std::uint64_t, std::int64_t> done_;  // deep dims by word
};
}  // namespace

Dim Dim::substitute(const DimMap& map) const {
  if (is_constant() || map.empty()) return *this;
  return Substitution(map)(*this);
}

std::int64_t Dim::evaluate(const std::function<std::int64_t(Symbol)>& value_of) const {
  return Evaluation(value_of)(*this);
}

}  // namespace tlaloc::ir
