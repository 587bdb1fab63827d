#include "tlaloc/ir/dim.h"
#include "tlaloc/ir/dim_expr.h"

namespace tlaloc::ir {
namespace {

std::string atom_text(const DimAtom& a, const Dim::Namer& namer) {
  static constexpr const char* kNames[] = {"", "floordiv", "mod", "min", "max"};
  if (a.kind == DimAtomKind::symbol) return namer(Symbol::from_id(a.symbol));
  return std::string(kNames[static_cast<int>(a.kind)]) + "(" + a.a.to_string(namer) + ", " +
         a.b.to_string(namer) + ")";
}

}  // namespace

std::string Dim::to_string() const {
  return to_string([](Symbol s) { return s.name(); });
}

std::string Dim::to_string(const Namer& namer) const {
  if (is_constant()) return std::to_string(constant());
  std::string text;
  for (const DimTerm& t : expr()->terms) {
    std::string factor;
    const std::int64_t c = t.coefficient;
    if (!text.empty()) text += c < 0 ? "-" : "+";
    else if (c < 0) text += "-";
    const std::string magnitude = c < 0 ? std::to_string(c).substr(1) : std::to_string(c);
    if (magnitude != "1" || t.atoms.empty()) factor = magnitude;
    for (const DimAtom& a : t.atoms) {
      if (!factor.empty()) factor += "*";
      factor += atom_text(a, namer);
    }
    text += factor;
  }
  return text;
}

}  // namespace tlaloc::ir
