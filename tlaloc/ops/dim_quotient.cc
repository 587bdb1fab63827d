#include "tlaloc/ops/dim_quotient.h"

#include <algorithm>

#include "tlaloc/ir/dim_expr.h"

namespace tlaloc::ops {
namespace {
using ir::Dim;
using ir::DimAtom;
using ir::DimAtomKind;
using ir::DimTerm;

Dim dim_of(const DimAtom& a) {
  switch (a.kind) {
    case DimAtomKind::symbol:
      return Dim(ir::Symbol::from_id(a.symbol));
    case DimAtomKind::floordiv:
      return floordiv(a.a, a.b);
    case DimAtomKind::mod:
      return mod(a.a, a.b);
    case DimAtomKind::min:
      return min(a.a, a.b);
    default:
      return max(a.a, a.b);
  }
}
}  // namespace

std::optional<Dim> exact_quotient(Dim a, Dim b) {
  const auto divisor = terms_of(b);
  if (divisor.size() != 1) return std::nullopt;
  Dim sum = 0;
  for (DimTerm term : terms_of(a)) {
    if (term.coefficient % divisor[0].coefficient != 0) return std::nullopt;
    for (const DimAtom& atom : divisor[0].atoms) {
      const auto at = std::ranges::find(term.atoms, atom);
      if (at == term.atoms.end()) return std::nullopt;
      term.atoms.erase(at);
    }
    Dim product = term.coefficient / divisor[0].coefficient;
    for (const DimAtom& atom : term.atoms) product *= dim_of(atom);
    sum += product;
  }
  return sum;
}
Dim quotient(Dim a, Dim b) {
  const auto exact = exact_quotient(a, b);
  return exact ? *exact : floordiv(a, b);
}

}  // namespace tlaloc::ops
