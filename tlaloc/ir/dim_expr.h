// The interned form behind Dim; internal to ir.
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
  // What follows from the terms, found once: sizes that share parts of each other are walked as
  // trees otherwise, in time exponential in their depth.
  std::vector<std::uint32_t> symbols{};  ///< distinct ids, in order of first appearance
  Interval range{};
  double typical = 0;
  int depth = 0;  ///< of quotients, remainders, minima and maxima in each other

  /// Fills in what follows from `terms`, whose operands are interned.
  void conclude();
  /// Walks that must visit parts (evaluation, substitution) remember results from here on; below it
  /// a tree is small, and remembering costs more than it saves.
  bool deep() const { return depth > 6; }
};

/// Rounds toward minus infinity; TL-SIZE-001, TL-SIZE-002.
std::int64_t floor_div(std::int64_t a, std::int64_t b);

/// The terms of any dim; none for 0.
std::vector<DimTerm> terms_of(Dim d);
/// Their product, not yet canonical. TL-SIZE-001 when a coefficient overflows.
std::vector<DimTerm> multiply(std::span<const DimTerm> a, std::span<const DimTerm> b);
/// The canonical sum of terms in any order, with atoms in any order. Interns the result only,
/// where adding up would intern each partial sum.
Dim make_dim(std::vector<DimTerm> terms);

/// The largest known integer that divides every value of the term.
std::int64_t known_divisor(const DimTerm& t);
/// True if b > 0 provably divides every value of d.
bool divisible(Dim d, std::int64_t b);

}  // namespace tlaloc::ir
