#include "tlaloc/ir/dim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/attr.h"
#include "tlaloc/ir/dim_expr.h"

namespace tlaloc::ir {
namespace {

std::string code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.code();
  }
  return "";
}

TEST(Dim, OneFormPerPolynomial) {
  const Dim n = Symbol::fresh("n"), m = Symbol::fresh("m"), k = Symbol::fresh("k");
  EXPECT_EQ(n + m, m + n);
  EXPECT_EQ((n + m) + k, n + (m + k));
  EXPECT_EQ(n * m * k, k * (m * n));
  EXPECT_EQ((n + m) * (n - m), n * n - m * m);
  EXPECT_EQ(n - n, Dim(0));
  EXPECT_EQ(n * 0, Dim(0));
  EXPECT_EQ(2 * n + n, 3 * n);
  EXPECT_EQ((n + 1) * (n + 1), n * n + 2 * n + 1);
  EXPECT_EQ(min(n, m), min(m, n));
  EXPECT_EQ(max(n, m), max(m, n));
  EXPECT_NE(n, m);
  EXPECT_NE(n * m, n + m);
  EXPECT_EQ(Dim(7).constant(), 7);
  EXPECT_EQ(Dim(-7).constant(), -7);
  EXPECT_EQ((n * 1).as_symbol(), n.as_symbol());
  EXPECT_FALSE((n * 2).as_symbol());
}

TEST(Dim, ReadsAsPeopleWriteIt) {
  const Dim n = Symbol::fresh("n"), m = Symbol::fresh("m");
  EXPECT_EQ((1 + n + n * m).to_string(), "n*m+n+1");
  EXPECT_EQ((Dim(0) - n).to_string(), "-n");
  EXPECT_EQ((2 * n - 3).to_string(), "2*n-3");
  EXPECT_EQ((Dim(3) - n * n).to_string(), "-n*n+3");
  EXPECT_EQ(floordiv(n - 3, 2).to_string(), "floordiv(n+1, 2)-2");
  EXPECT_EQ(max(Dim(5), n).to_string(), "max(n, 5)");
  EXPECT_EQ(mod(n, m).to_string(), "mod(n, m)");
  EXPECT_EQ(Dim(-4).to_string(), "-4");
}

TEST(Dim, DivisionIsExactWhereItCanBe) {
  const Dim n = Symbol::fresh("n");
  const Dim e = Symbol::fresh(SymbolFacts{.name = "e", .multiple_of = 8});
  const Dim s = Symbol::fresh(SymbolFacts{.name = "s", .lower = 0, .upper = 3});
  const Dim p = Symbol::fresh(SymbolFacts{.name = "p", .lower = 1});
  EXPECT_EQ(floordiv(8 * n, 8), n);
  EXPECT_EQ(floordiv(8 * n + 7, 8), n);
  EXPECT_EQ(floordiv(8 * n - 1, 8), n - 1);
  EXPECT_EQ(floordiv(4 * n + s, 4), n);
  EXPECT_EQ(floordiv(n + 8, 4), floordiv(n, 4) + 2);
  EXPECT_EQ(floordiv(n, 1), n);
  EXPECT_EQ(floordiv(n, -1), Dim(0) - n);
  EXPECT_EQ(floordiv(p, p), Dim(1));
  EXPECT_NE(floordiv(n, n), Dim(1));  // n may be 0
  EXPECT_EQ(mod(8 * n + 3, 8), Dim(3));
  EXPECT_EQ(mod(8 * n - 1, 8), Dim(7));
  EXPECT_EQ(mod(4 * n + s, 4), s);
  EXPECT_EQ(mod(e, 4), Dim(0));
  EXPECT_EQ(mod(e + n, 8), mod(e + n, 8));
  EXPECT_EQ(mod(n, -1), Dim(0));
  EXPECT_EQ(floordiv(Dim(-7), 2), Dim(-4));
  EXPECT_EQ(floordiv(Dim(7), -2), Dim(-4));
  EXPECT_EQ(mod(Dim(-7), 2), Dim(1));
  EXPECT_EQ(mod(Dim(7), -2), Dim(-1));
  EXPECT_EQ(ceildiv(Dim(7), 2), Dim(4));
  EXPECT_EQ(equal(8 * floordiv(e, 8), e), Truth::yes);
  EXPECT_EQ(equal(16 * floordiv(e, 8) * n, 2 * e * n), Truth::yes);
  EXPECT_EQ(equal(8 * floordiv(n, 8), n), Truth::unknown);
}

TEST(Dim, MinAndMaxAreDecidedWhereTheyCanBe) {
  const Dim n = Symbol::fresh("n"), m = Symbol::fresh("m");
  EXPECT_EQ(max(n, 0), n);
  EXPECT_EQ(min(n, n + 1), n);
  EXPECT_EQ(max(n, n + m), n + m);
  EXPECT_EQ(min(n, -1), Dim(-1));
  EXPECT_FALSE(min(n, m).is_constant());
}

TEST(Dim, ComparisonHasThreeAnswers) {
  const Dim n = Symbol::fresh("n"), m = Symbol::fresh("m");
  const Dim b = Symbol::fresh(SymbolFacts{.name = "b", .lower = 2, .upper = 5});
  const Dim e = Symbol::fresh(SymbolFacts{.name = "e", .multiple_of = 2});
  EXPECT_EQ(equal(n, n), Truth::yes);
  EXPECT_EQ(equal(n, m), Truth::unknown);
  EXPECT_EQ(equal(n, n + 1), Truth::no);
  EXPECT_EQ(equal(b, 6), Truth::no);
  EXPECT_EQ(equal(b, 1), Truth::no);
  EXPECT_EQ(equal(b, 5), Truth::unknown);
  EXPECT_EQ(equal(2 * n, 3), Truth::no);
  EXPECT_EQ(equal(e, 2 * m + 1), Truth::no);
  EXPECT_EQ(less_equal(0, n), Truth::yes);
  EXPECT_EQ(less_equal(n, -1), Truth::no);
  EXPECT_EQ(less_equal(n + 1, n), Truth::no);
  EXPECT_EQ(less_equal(n, n), Truth::yes);
  EXPECT_EQ(less_equal(6, b), Truth::no);
  EXPECT_EQ(less_equal(5, b), Truth::unknown);
  EXPECT_EQ(less_equal(n, m), Truth::unknown);
  EXPECT_EQ(less_equal(floordiv(n, 2), n), Truth::yes);
  EXPECT_EQ(less_equal(8 * floordiv(n, 8), n), Truth::yes);
  EXPECT_EQ(less_equal(n, 8 * floordiv(n + 7, 8)), Truth::yes);
  EXPECT_EQ(less_equal(n, 8 * floordiv(n, 8)), Truth::unknown);
  EXPECT_EQ(less_equal(min(n, m), n), Truth::yes);
  EXPECT_EQ(less_equal(m, max(n, m) + 1), Truth::yes);
  EXPECT_EQ(less_equal(floordiv(min(n, m), 3), m), Truth::yes);
  EXPECT_EQ(equal(min(n, 4), n + m + 1), Truth::no);
  EXPECT_EQ(max(min(n, m), n), n);
}

TEST(Dim, RemaindersOfTheLeastIntegerAreDefined) {
  const Symbol n = Symbol::fresh("n");
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const auto least = [&](Symbol) { return kLeast; };
  EXPECT_EQ(mod(Dim(n), 3).evaluate(least), 1);
  EXPECT_EQ(mod(Dim(n), Dim(n) + 1).evaluate(least), -1);
  EXPECT_EQ(mod(Dim(n), n).evaluate(least), 0);
}

TEST(Dim, SubstitutionIsSimultaneous) {
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m");
  DimMap swap;
  swap.set(n, m);
  swap.set(m, n);
  EXPECT_EQ((Dim(n) * n + m).substitute(swap), Dim(m) * m + n);
  DimMap grow;
  grow.set(n, Dim(n) + 1);
  EXPECT_EQ((Dim(n) * n).substitute(grow), Dim(n) * n + 2 * Dim(n) + 1);
  DimMap known;
  known.set(n, 12);
  EXPECT_EQ(floordiv(Dim(n) + 1, 4).substitute(known), Dim(3));
  EXPECT_EQ((floordiv(Dim(m), n) + min(Dim(n), m)).substitute(known),
            floordiv(Dim(m), 12) + min(Dim(m), 12));
}

TEST(Dim, ConstraintsAreSolvedForALoneSymbol) {
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m");
  auto check = [](Dim a, Dim b) {
    const auto s = solve_equal(a, b);
    ASSERT_TRUE(s);
    EXPECT_FALSE(s->second.mentions([&](Symbol q) { return q == s->first; }));
    DimMap map;
    map.set(s->first, s->second);
    EXPECT_EQ(a.substitute(map), b.substitute(map));
  };
  check(n, m);
  check(n, 4);
  check(3 - Dim(n), 2 * Dim(m));
  check(Dim(n) + m * Dim(m), floordiv(Dim(m), 3));
  EXPECT_FALSE(solve_equal(2 * Dim(n), 3 * Dim(m)));
  EXPECT_FALSE(solve_equal(Dim(n) * n, n));           // n is not alone
  EXPECT_FALSE(solve_equal(n, floordiv(Dim(n), 2)));  // nor here
  EXPECT_FALSE(solve_equal(n, n));
  EXPECT_FALSE(solve_equal(3, 4));
}

TEST(Dim, ArithmeticIsChecked) {
  constexpr std::int64_t kLargest = (std::int64_t{1} << 62) - 1;
  const Symbol n = Symbol::fresh("n");
  EXPECT_EQ(Dim(kLargest).constant(), kLargest);
  EXPECT_EQ(Dim(-kLargest - 1).constant(), -kLargest - 1);
  for (const auto& f : std::initializer_list<std::function<void()>>{
           [] { Dim(kLargest) + Dim(1); },
           [] { Dim(-kLargest - 1) - Dim(1); },
           [] { Dim(kLargest) * Dim(3); },
           [] { (void)Dim(std::numeric_limits<std::int64_t>::max()); },
           [&] { Dim(kLargest) * n + Dim(n); },
           [&] { Dim(-kLargest - 1) * n* Dim(-1); },
           [&] { (Dim(kLargest) * n) * (Dim(kLargest) * n); },
           [&] { floordiv(Dim(-kLargest - 1), -1); },
           [&] { (void)(Dim(n) * n * n).evaluate([](Symbol) { return kLargest; }); },
           [&] { (void)(Dim(n) + n).evaluate([](Symbol) { return kLargest * 2; }); },
       }) {
    EXPECT_EQ(code_of(f), "TL-SIZE-001");
  }
  EXPECT_EQ(code_of([&] { floordiv(Dim(n), 0); }), "TL-SIZE-002");
  EXPECT_EQ(code_of([&] { mod(Dim(n), 0); }), "TL-SIZE-002");
  EXPECT_EQ(code_of([&] { (void)floordiv(Dim(n), n).evaluate([](Symbol) { return 0; }); }),
            "TL-SIZE-002");
  EXPECT_THROW(Symbol::fresh(SymbolFacts{.name = "x", .lower = 2, .upper = 1}), InternalError);
  EXPECT_THROW(Symbol::fresh(SymbolFacts{.name = "x", .multiple_of = 0}), InternalError);
}

TEST(Dim, PowersStaySmall) {
  const Symbol n = Symbol::fresh("n"), a = Symbol::fresh("a"), b = Symbol::fresh("b");
  Dim power(1);
  for (int i = 0; i < 40; ++i) power *= n;
  DimMap map;
  map.set(n, Dim(a) + b);
  EXPECT_EQ(power.substitute(map).expr()->terms.size(), 41u);
  // Each factor may be expanded alone, all of them make 2^30 terms.
  Dim product(std::int64_t{1} << 40);
  for (int i = 0; i < 30; ++i) {
    const Dim x = Symbol::fresh(SymbolFacts{.name = "x", .multiple_of = 2});
    const Dim y = Symbol::fresh(SymbolFacts{.name = "y", .multiple_of = 2});
    product *= floordiv(x + y, 4);
  }
  EXPECT_EQ(less_equal(product, n), Truth::unknown);
}

TEST(Dim, BoundsSaturate) {
  const Dim n = Symbol::fresh("n");
  const Interval b = bounds(n * n * n - n);
  EXPECT_EQ(b.lower, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(b.upper, std::numeric_limits<std::int64_t>::max());
  const Dim big = Symbol::fresh(SymbolFacts{.name = "b", .lower = std::int64_t{1} << 40});
  EXPECT_GE(bounds(big * big * big).lower, std::int64_t{1} << 62);
}

TEST(Dim, TypicalSizesAreForCosts) {
  const Dim n = Symbol::fresh(SymbolFacts{.name = "n", .typical = 100});
  EXPECT_EQ(typical(n * n + 1), 10001);
  EXPECT_EQ(typical(floordiv(n, 8)), 12.5);
  EXPECT_EQ(typical(min(n, 7) + max(n, 200)), 207);
}

TEST(Dim, SharedPartsAreWalkedOnce) {
  // As a tree this has 2^60 leaves.
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m");
  Dim d = n;
  std::int64_t expected = 1000;
  for (int i = 0; i < 60; ++i) {
    d = floordiv(d, 2) + mod(d, 3) + 7;
    expected = expected / 2 + expected % 3 + 7;
  }
  EXPECT_EQ(d.symbols(), std::vector{n});
  EXPECT_GE(bounds(d).lower, 7);
  EXPECT_GT(typical(d), 0);
  EXPECT_EQ(d.evaluate([](Symbol) { return 1000; }), expected);
  DimMap map;
  map.set(n, m);
  const Dim e = d.substitute(map);
  EXPECT_EQ(e.symbols(), std::vector{m});
  auto hash = [](Dim x) {
    Hasher h([](Symbol) { return 1u; });
    h.add(x);
    return h.value();
  };
  EXPECT_EQ(hash(d), hash(e));
  EXPECT_NE(hash(d), hash(d + 1));
  map.set(n, 1000);
  EXPECT_EQ(d.substitute(map), Dim(expected));
}

TEST(Dim, TheSameFromEveryThread) {
  constexpr int kThreads = 8, kRounds = 2000;
  const Dim n = Symbol::fresh("n"), m = Symbol::fresh("m");
  std::vector<std::vector<Dim>> seen(kThreads);
  std::vector<std::vector<std::uint32_t>> ids(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        seen[t].push_back(floordiv(n * (i % 97) + m, i % 13 + 2) * m + i);
        const Symbol s = Symbol::fresh("s");
        ids[t].push_back(s.id());
        EXPECT_EQ(s.facts().name, "s");
      }
    });
  }
  for (auto& t : threads) t.join();
  std::vector<std::uint32_t> all;
  for (int t = 0; t < kThreads; ++t) {
    EXPECT_EQ(seen[t], seen[0]);
    all.insert(all.end(), ids[t].begin(), ids[t].end());
  }
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
}

// ---- random expressions against plain integer arithmetic ----

struct Expr {
  Dim dim;
  std::function<std::int64_t(const std::vector<std::int64_t>&)> value;
};

class Random {
 public:
  Random() {
    for (SymbolFacts f : {SymbolFacts{.name = "a"}, SymbolFacts{.name = "b", .lower = 1},
                          SymbolFacts{.name = "c", .lower = -6, .upper = 6},
                          SymbolFacts{.name = "d", .lower = 2, .upper = 5},
                          SymbolFacts{.name = "e", .multiple_of = 6},
                          SymbolFacts{.name = "f", .lower = -20, .multiple_of = 4}}) {
      symbols.push_back(Symbol::fresh(f));
    }
  }
  std::int64_t below(std::int64_t n) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n));
  }

  std::vector<std::int64_t> values() {
    std::vector<std::int64_t> r;
    for (Symbol s : symbols) {
      const SymbolFacts& f = s.facts();
      const std::int64_t span = f.upper > f.lower + 25 ? 26 : f.upper - f.lower + 1;
      std::int64_t x;
      do x = f.lower + below(span);
      while (x % f.multiple_of != 0);
      r.push_back(x);
    }
    return r;
  }

  Expr leaf() {
    if (below(3) == 0) {
      const std::int64_t c = below(13) - 4;
      return {Dim(c), [c](const auto&) { return c; }};
    }
    const auto i = static_cast<std::size_t>(below(static_cast<std::int64_t>(symbols.size())));
    return {Dim(symbols[i]), [i](const auto& v) { return v[i]; }};
  }
  /// Never zero.
  Expr divisor() {
    if (below(3) == 0) {
      const std::size_t i = below(2) ? 1 : 3;
      return {Dim(symbols[i]), [i](const auto& v) { return v[i]; }};
    }
    std::int64_t c = below(10) - 3;
    if (c <= 0) --c;
    return {Dim(c), [c](const auto&) { return c; }};
  }
  Expr expr(int depth) {
    if (depth == 0) return leaf();
    const std::int64_t kind = below(7);
    const Expr a = expr(depth - 1);
    const Expr b = kind == 3 || kind == 4 ? divisor() : expr(static_cast<int>(below(depth)));
    switch (kind) {
      case 0:
        return {a.dim + b.dim, [=](const auto& v) { return a.value(v) + b.value(v); }};
      case 1:
        return {a.dim - b.dim, [=](const auto& v) { return a.value(v) - b.value(v); }};
      case 2:
        return {a.dim * b.dim, [=](const auto& v) { return a.value(v) * b.value(v); }};
      case 3:
        return {floordiv(a.dim, b.dim),
                [=](const auto& v) { return quotient(a.value(v), b.value(v)); }};
      case 4:
        return {mod(a.dim, b.dim), [=](const auto& v) {
                  return a.value(v) - b.value(v) * quotient(a.value(v), b.value(v));
                }};
      case 5:
        return {min(a.dim, b.dim), [=](const auto& v) { return std::min(a.value(v), b.value(v)); }};
      default:
        return {max(a.dim, b.dim), [=](const auto& v) { return std::max(a.value(v), b.value(v)); }};
    }
  }
  std::int64_t evaluate(Dim d, const std::vector<std::int64_t>& v) {
    return d.evaluate([&](Symbol s) {
      return v[static_cast<std::size_t>(std::ranges::find(symbols, s) - symbols.begin())];
    });
  }
  static std::int64_t quotient(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(
        std::floor(static_cast<long double>(a) / static_cast<long double>(b)));
  }

  std::vector<Symbol> symbols;

 private:
  std::mt19937_64 random_{7};
};

constexpr int kExpressions = 2000, kSamples = 30;

TEST(DimRandom, EvaluatesLikePlainIntegers) {
  Random r;
  for (int i = 0; i < kExpressions; ++i) {
    const Expr e = r.expr(1 + i % 4);
    for (int k = 0; k < kSamples; ++k) {
      const auto v = r.values();
      ASSERT_EQ(r.evaluate(e.dim, v), e.value(v)) << e.dim.to_string();
    }
  }
}

TEST(DimRandom, BoundsHold) {
  Random r;
  for (int i = 0; i < kExpressions; ++i) {
    const Expr e = r.expr(1 + i % 4);
    const Interval b = bounds(e.dim);
    for (int k = 0; k < kSamples; ++k) {
      const std::int64_t x = e.value(r.values());
      ASSERT_TRUE(b.lower <= x && x <= b.upper)
          << e.dim.to_string() << " = " << x << " is not in " << b.lower << ".." << b.upper;
    }
  }
}

TEST(DimRandom, ComparisonsHold) {
  Random r;
  int decided = 0;
  for (int i = 0; i < kExpressions; ++i) {
    const Expr a = r.expr(1 + i % 3);
    // Half of the time something close, so that "yes" and "no" occur.
    const Expr c = r.leaf();
    const Expr b =
        i % 2 ? r.expr(1 + i % 3)
              : Expr{a.dim + c.dim, [=](const auto& v) { return a.value(v) + c.value(v); }};
    const Truth eq = equal(a.dim, b.dim), le = less_equal(a.dim, b.dim);
    decided += (eq != Truth::unknown) + (le != Truth::unknown);
    for (int k = 0; k < kSamples; ++k) {
      const auto v = r.values();
      const std::int64_t x = a.value(v), y = b.value(v);
      const std::string text = a.dim.to_string() + " against " + b.dim.to_string();
      ASSERT_FALSE((eq == Truth::yes && x != y) || (eq == Truth::no && x == y)) << text;
      ASSERT_FALSE((le == Truth::yes && x > y) || (le == Truth::no && x <= y)) << text;
    }
  }
  EXPECT_GT(decided, kExpressions / 4) << "the test decides too little to mean anything";
}

TEST(DimRandom, QuotientAndRemainderMakeTheWhole) {
  Random r;
  for (int i = 0; i < kExpressions; ++i) {
    const Expr a = r.expr(1 + i % 3), b = r.divisor();
    const Dim whole = b.dim * floordiv(a.dim, b.dim) + mod(a.dim, b.dim);
    EXPECT_NE(equal(whole, a.dim), Truth::no) << whole.to_string();
    for (int k = 0; k < kSamples; ++k) {
      const auto v = r.values();
      ASSERT_EQ(r.evaluate(whole, v), a.value(v)) << whole.to_string();
    }
  }
}

TEST(DimRandom, SubstitutionCommutesWithEvaluation) {
  Random r;
  for (int i = 0; i < kExpressions; ++i) {
    const Expr e = r.expr(1 + i % 3);
    // Each symbol by an expression with the same facts: itself shifted by a multiple within bounds.
    DimMap map;
    std::vector<std::int64_t> shift(r.symbols.size());
    for (std::size_t s : {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{5}}) {
      shift[s] = 12 * r.below(3);
      map.set(r.symbols[s], Dim(r.symbols[s]) + shift[s]);
    }
    const Dim d = e.dim.substitute(map);
    for (int k = 0; k < kSamples; ++k) {
      const auto v = r.values();
      auto w = v;
      for (std::size_t s = 0; s < w.size(); ++s) w[s] += shift[s];
      ASSERT_EQ(r.evaluate(d, v), e.value(w)) << e.dim.to_string() << " became " << d.to_string();
    }
  }
}

TEST(DimRandom, RebuildingFromTermsChangesNothing) {
  Random r;
  for (int i = 0; i < kExpressions; ++i) {
    const Dim d = r.expr(1 + i % 4).dim;
    auto terms = terms_of(d);
    std::ranges::reverse(terms);
    for (DimTerm& t : terms) std::ranges::reverse(t.atoms);
    EXPECT_EQ(make_dim(std::move(terms)), d);
    EXPECT_EQ(d - d, Dim(0));
    EXPECT_EQ(equal(d, d), Truth::yes);
  }
}

}  // namespace
}  // namespace tlaloc::ir
