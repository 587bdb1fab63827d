#include <algorithm>

#include "tlaloc/ir/dim.h"
#include "tlaloc/ir/dim_expr.h"

namespace tlaloc::ir {
namespace {

/// Renders a dim. The canonical order is by symbol id, which differs between equal graphs, so the
/// text has an order of its own: by degree, then by what `order` says of the symbols.
class Writer {
 public:
  Writer(const Dim::Namer& namer, const Dim::Order& order) : namer_(namer), order_(order) {}

  struct Atom {
    DimAtomKind kind;
    std::uint32_t rank;  // of a symbol
    std::string text;
    auto operator<=>(const Atom&) const = default;
  };
  struct Term {
    std::vector<Atom> atoms;
    std::int64_t coefficient;
    bool operator<(const Term& other) const {
      if (atoms.size() != other.atoms.size()) return atoms.size() > other.atoms.size();
      if (atoms != other.atoms) return atoms < other.atoms;
      return coefficient < other.coefficient;
    }
  };

  std::vector<Term> terms(Dim d) const {
    std::vector<Term> r;
    for (const DimTerm& t : terms_of(d)) {
      Term term{{}, t.coefficient};
      for (const DimAtom& a : t.atoms) term.atoms.push_back(atom(a));
      std::ranges::sort(term.atoms);
      r.push_back(std::move(term));
    }
    std::ranges::sort(r, std::less<>());
    return r;
  }

  static std::string text(const std::vector<Term>& terms) {
    if (terms.empty()) return "0";
    std::string text;
    for (const Term& t : terms) {
      const std::int64_t c = t.coefficient;
      if (!text.empty())
        text += c < 0 ? "-" : "+";
      else if (c < 0)
        text += "-";
      const std::string magnitude = std::to_string(c < 0 ? -c : c);
      const bool implied = magnitude == "1" && !t.atoms.empty();
      if (!implied) text += magnitude;
      for (std::size_t i = 0; i < t.atoms.size(); ++i) {
        if (i || !implied) text += "*";
        text += t.atoms[i].text;
      }
    }
    return text;
  }

 private:
  Atom atom(const DimAtom& a) const {
    static constexpr const char* kNames[] = {"", "floordiv", "mod", "min", "max"};
    if (a.kind == DimAtomKind::symbol) {
      const Symbol s = Symbol::from_id(a.symbol);
      return {a.kind, order_ ? order_(s) : s.id(), namer_(s)};
    }
    auto x = terms(a.a), y = terms(a.b);
    const bool commutes = a.kind == DimAtomKind::min || a.kind == DimAtomKind::max;
    if (commutes && std::ranges::lexicographical_compare(y, x, std::less<>())) std::swap(x, y);
    return {a.kind, 0,
            std::string(kNames[static_cast<int>(a.kind)]) + "(" + text(x) + ", " + text(y) + ")"};
  }

  const Dim::Namer& namer_;
  const Dim::Order& order_;
};

}  // namespace

std::string Dim::to_string() const {
  return to_string([](Symbol s) { return s.name(); });
}

std::string Dim::to_string(const Namer& namer, const Order& order) const {
  if (is_constant()) return std::to_string(constant());
  if (auto s = as_symbol()) return namer(*s);
  return Writer::text(Writer(namer, order).terms(*this));
}

}  // namespace tlaloc::ir
