// The interned form behind Dim; for dim.cc, printing and parsing.
#pragma once

#include <vector>

#include "tlaloc/ir/dim.h"

namespace tlaloc::ir {

enum class DimAtomKind : std::uint8_t { symbol, floordiv, mod, min, max };

struct DimAtom {
  DimAtomKind kind;
  std::uint32_t symbol;  ///< id, for kind symbol
  Dim a, b;              ///< operands, for the other kinds
  friend bool operator==(const DimAtom&, const DimAtom&);
};

/// coefficient * product of atoms; atoms sorted, a power repeats its atom.
struct DimTerm {
  std::vector<DimAtom> atoms;
  std::int64_t coefficient;
  bool operator==(const DimTerm&) const = default;
};

struct Dim::Expr {
  std::vector<DimTerm> terms;  ///< sorted, no zero coefficients
  std::size_t hash;
};

}  // namespace tlaloc::ir
