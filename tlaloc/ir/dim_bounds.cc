// What can be proved about sizes: bounds, three-valued comparison, solving.
#include <algorithm>
#include <numeric>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/dim.h"
#include "tlaloc/ir/dim_expr.h"

namespace tlaloc::ir {

namespace {
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
// kMin and kMax stand for minus and plus infinity.
std::int64_t sat_mul(std::int64_t a, std::int64_t b) {
  if (a == 0 || b == 0) return 0;
  std::int64_t r;
  const bool infinite = a == kMax || a == kMin || b == kMax || b == kMin;
  if (infinite || __builtin_mul_overflow(a, b, &r)) return (a < 0) == (b < 0) ? kMax : kMin;
  return r;
}
std::int64_t sat_add(std::int64_t a, std::int64_t b, std::int64_t infinity) {
  if (a == infinity || b == infinity) return infinity;
  std::int64_t r;
  if (__builtin_add_overflow(a, b, &r)) return a < 0 ? kMin : kMax;
  return r;
}
Interval times(Interval a, Interval b) {
  const std::int64_t p[4] = {sat_mul(a.lower, b.lower), sat_mul(a.lower, b.upper),
                             sat_mul(a.upper, b.lower), sat_mul(a.upper, b.upper)};
  return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}
Interval bounds(const DimAtom& a) {
  if (a.kind == DimAtomKind::symbol) {
    const auto& f = Symbol::from_id(a.symbol).facts();
    return {f.lower, f.upper};
  }
  const Interval x = ir::bounds(a.a), y = ir::bounds(a.b);
  switch (a.kind) {
    case DimAtomKind::min:
      return {std::min(x.lower, y.lower), std::min(x.upper, y.upper)};
    case DimAtomKind::max:
      return {std::max(x.lower, y.lower), std::max(x.upper, y.upper)};
    case DimAtomKind::mod:
      if (y.lower > 0) return {0, y.upper == kMax ? kMax : y.upper - 1};
      return {kMin, kMax};
    default:
      if (y.lower <= 0) return {kMin, kMax};
      // Monotone in the dividend; the divisor of smallest magnitude gives the widest result.
      {
        auto div = [](std::int64_t n, std::int64_t d) {
          if (n == kMin || n == kMax) return d == kMax ? (n < 0 ? std::int64_t{-1} : kMax) : n;
          return d == kMax ? (n < 0 ? std::int64_t{-1} : std::int64_t{0}) : floor_div(n, d);
        };
        return {std::min(div(x.lower, y.lower), div(x.lower, y.upper)),
                std::max(div(x.upper, y.lower), div(x.upper, y.upper))};
      }
  }
}
double typical_of(const DimAtom& a) {
  switch (a.kind) {
    case DimAtomKind::symbol:
      return static_cast<double>(Symbol::from_id(a.symbol).facts().typical);
    case DimAtomKind::floordiv:
      return typical(a.a) / std::max(1.0, typical(a.b));
    case DimAtomKind::mod:
      return typical(a.b) / 2;
    case DimAtomKind::min:
      return std::min(typical(a.a), typical(a.b));
    default:
      return std::max(typical(a.a), typical(a.b));
  }
}
}  // namespace

void Dim::Expr::conclude() {
  auto mention = [&](std::uint32_t id) {
    if (std::ranges::find(symbols, id) == symbols.end()) symbols.push_back(id);
  };
  auto gather = [&](Dim part) {
    if (part.is_constant()) return;
    std::ranges::for_each(part.expr()->symbols, mention);
    depth = std::max(depth, part.expr()->depth + 1);
  };
  range = {0, 0};
  for (const DimTerm& t : terms) {
    Interval product{t.coefficient, t.coefficient};
    double usual = static_cast<double>(t.coefficient);
    for (const DimAtom& a : t.atoms) {
      if (a.kind == DimAtomKind::symbol) {
        mention(a.symbol);
      } else {
        depth = std::max(depth, 1);
        gather(a.a);
        gather(a.b);
      }
      product = times(product, bounds(a));
      usual *= typical_of(a);
    }
    range = {sat_add(range.lower, product.lower, kMin), sat_add(range.upper, product.upper, kMax)};
    typical += usual;
  }
}

Interval bounds(Dim d) {
  if (d.is_constant()) return {d.constant(), d.constant()};
  return d.expr()->range;
}
double typical(Dim d) {
  return d.is_constant() ? static_cast<double>(d.constant()) : d.expr()->typical;
}

namespace {
/// c * floordiv(a, b) is (c / b) * a where b divides both c and, provably, a.
Dim expand_exact_divisions(Dim d) {
  if (d.is_constant()) return d;
  constexpr std::size_t kMaxTerms = 1024;
  std::vector<DimTerm> sum;
  bool changed = false;
  for (const DimTerm& t : d.expr()->terms) {
    DimTerm kept{{}, t.coefficient};
    std::vector<DimTerm> factor{{{}, 1}};
    for (const DimAtom& a : t.atoms) {
      if (a.kind == DimAtomKind::floordiv && a.b.is_constant() && a.b.constant() > 0 &&
          kept.coefficient % a.b.constant() == 0 && divisible(a.a, a.b.constant())) {
        const std::vector<DimTerm> dividend = terms_of(a.a);
        // Nobody writes such a size; a hostile text may.
        if (factor.size() * dividend.size() > kMaxTerms) return d;
        kept.coefficient /= a.b.constant();
        factor = multiply(factor, dividend);
        changed = true;
      } else {
        kept.atoms.push_back(a);
      }
    }
    for (DimTerm& p : multiply(std::span(&kept, 1), factor)) sum.push_back(std::move(p));
  }
  return changed ? expand_exact_divisions(make_dim(std::move(sum))) : d;
}

bool replaceable(const DimTerm& t) {
  if (t.atoms.size() != 1) return false;
  const DimAtom& a = t.atoms[0];
  return a.kind == DimAtomKind::min || a.kind == DimAtomKind::max ||
         (a.kind == DimAtomKind::floordiv && a.b.is_constant() && a.b.constant() > 0);
}

/// True if d >= 0 follows from bounds, after one quotient, min or max at a time is replaced by
/// something that makes d smaller: floordiv(n, 2) <= n needs it. The search is exhaustive up to
/// limits that do not depend on the order of terms, since that order differs between equal graphs.
bool nonnegative(Dim d, int depth) {
  if (bounds(d).lower >= 0) return true;
  constexpr std::size_t kMaxTerms = 16;
  constexpr int kMaxCandidates = 4;
  const std::vector<DimTerm> terms = terms_of(d);
  if (depth == 0 || terms.size() > kMaxTerms ||
      std::ranges::count_if(terms, replaceable) > kMaxCandidates) {
    return false;
  }
  for (const DimTerm& t : terms) {
    if (!replaceable(t)) continue;
    const DimAtom& a = t.atoms[0];
    const Dim c(t.coefficient), rest = d - make_dim({t});
    if (a.kind == DimAtomKind::floordiv) {
      // b * floordiv(a, b) is within a - (b - 1) and a.
      const Dim slack = t.coefficient > 0 ? c * (a.b - 1) : Dim(0);
      if (nonnegative(a.b * rest + c * a.a - slack, depth - 1)) return true;
      continue;
    }
    // c * min(a, b) with c < 0 is at least either of c * a and c * b, with c > 0 one of them.
    const bool first = nonnegative(rest + c * a.a, depth - 1);
    const bool either = (a.kind == DimAtomKind::min) == (t.coefficient < 0);
    if (first == either ? first : nonnegative(rest + c * a.b, depth - 1)) return true;
  }
  return false;
}
/// sign * d - minus >= 0, surely.
bool surely(Dim d, int sign, int minus) {
  const Interval range = bounds(d);
  if (sign > 0 ? range.lower >= minus : range.upper <= -minus) return true;
  if (d.is_constant() || std::ranges::none_of(d.expr()->terms, replaceable)) return false;
  try {
    return nonnegative(d * sign - minus, 2);
  } catch (const UserError&) {
    return false;  // what the search multiplied out overflowed; d itself did not
  }
}
}  // namespace

Truth equal(Dim a, Dim b) {
  if (a == b) return Truth::yes;
  const Dim d = expand_exact_divisions(a - b);
  if (d.is_constant()) return d.constant() == 0 ? Truth::yes : Truth::no;
  if (surely(d, 1, 1) || surely(d, -1, 1)) return Truth::no;
  // 2*n = 3 has no solution: the symbolic part is a multiple of g, the constant is not.
  std::int64_t g = 0, constant = 0;
  for (const DimTerm& t : d.expr()->terms) {
    if (t.atoms.empty())
      constant = t.coefficient;
    else
      g = std::gcd(g, known_divisor(t));
  }
  if (g > 1 && constant % g != 0) return Truth::no;
  return Truth::unknown;
}
Truth less_equal(Dim a, Dim b) {
  const Dim d = expand_exact_divisions(b - a);
  if (surely(d, 1, 0)) return Truth::yes;
  if (surely(d, -1, 1)) return Truth::no;
  return Truth::unknown;
}

std::optional<std::pair<Symbol, Dim>> solve_equal(Dim a, Dim b) {
  const Dim d = a - b;
  if (d.is_constant()) return std::nullopt;
  for (const DimTerm& t : d.expr()->terms) {
    if (t.atoms.size() != 1 || t.atoms[0].kind != DimAtomKind::symbol) continue;
    if (t.coefficient != 1 && t.coefficient != -1) continue;
    const Symbol s = Symbol::from_id(t.atoms[0].symbol);
    const Dim rest = d - Dim(s) * Dim(t.coefficient);
    if (rest.mentions([&](Symbol q) { return q == s; })) continue;
    return std::pair{s, rest * Dim(-t.coefficient)};
  }
  return std::nullopt;
}

}  // namespace tlaloc::ir
