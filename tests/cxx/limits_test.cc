// Programs at the limits of what printing takes: long, deep, with extreme numbers and odd texts.
#include <gtest/gtest.h>

#include <limits>

#include "tests/cxx/compiled.h"
#include "tests/transform/scaling.h"
#include "tlaloc/cxx/includes.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::testing {
namespace {

constexpr std::size_t kSmallStack = 256 << 10;

std::string plain(const GraphRef& g) { return cxx::print(*g, {.mode = cxx::Mode::plain}); }
/// The printed program against the interpreter.
void expect_same(const GraphRef& g, const Arrays& args) {
  Compiled compiled;
  compiled.add(g, {.mode = cxx::Mode::plain});
  ASSERT_EQ(compiled.compile(), "") << compiled.printed(0).text;
  const auto got = compiled.run({{0, args}});
  EXPECT_EQ(got[0].error, "");
  EXPECT_EQ(difference(got[0].results, interp::run(*g, args)), "") << compiled.printed(0).text;
}

TEST(LongPrograms, AChainOnANumberNeedsNoStack) {
  with_stack(kSmallStack, [] {
    EXPECT_GT(plain(chain(100000)).size(), 1000000u);
    EXPECT_GT(plain(transform::value_and_grad(chain(20000), {true})).size(), 500000u);
  });
}
TEST(LongPrograms, AChainOnAnArrayNeedsNoStack) {
  with_stack(kSmallStack, [] {
    const GraphRef g =
        graph_of({f64({8})}, [](const Vals& p) { return Vals{chain(p[0], 100000)}; });
    EXPECT_GT(plain(g).size(), 1000000u);
  });
}
TEST(LongPrograms, ALongChainOnAnArrayGivesTheInterpretersBits) {
  const GraphRef g = graph_of({f64({3})}, [](const Vals& p) { return Vals{chain(p[0], 300)}; });
  expect_same(g, {reals({0.3, -1.2, 2.5})});
}

// Each square reads the last one twice: written out, the formula doubles with each.
TEST(Loops, WhatIsComputedOfACounterIsNotWrittenOutWithoutEnd) {
  const GraphRef g = graph_of({i64(), f64()}, [](const Vals& p) {
    return Vals{fori(p[0], p[1], [](Val i, Val x) {
      Val hash = i;
      for (int k = 0; k < 60; ++k) hash = hash * hash + integer(k);
      return x * ops::convert(hash, DType::f64);
    })};
  });
  EXPECT_LT(plain(transform::value_and_grad(g, {false, true})).size(), 20000u);
}

TEST(Loops, ExtremeStepsWrapAround) {
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t step : {Limits::min(), Limits::max(), std::int64_t{1} << 62}) {
    const GraphRef g = graph_of({f64(), i64()}, [&](const Vals& p) {
      // Carries: how often, the number that steps, a value that reads it.
      const Vals r = fori(p[1], {integer(0), p[0]}, [&](Val, const Vals& c) {
        return Vals{c[0] - integer(step), c[1] * (ops::convert(c[0], DType::f64) * 1e-18 + 1.5)};
      });
      return Vals{r[1]};
    });
    expect_same(transform::value_and_grad(g, {true, false}),
                {HostArray::scalar(0.5), HostArray::scalar(std::int64_t{5})});
  }
}

TEST(Texts, AnyTextMayStandInACheck) {
  const Symbol n = Symbol::fresh("n"), m = Symbol::fresh("m");
  const GraphRef g = graph_of({f64({n}), f64({m})}, [&](const Vals& p) {
    ir::Builder::current().require({ir::Constraint::Kind::equal,
                                    n,
                                    m,
                                    "a \"b\\ c\n\t\x01"
                                    "2 \xc3\xa9",
                                    {}});
    return Vals{p[0], p[1]};
  });
  Compiled compiled;
  compiled.add(g, {.mode = cxx::Mode::plain});
  ASSERT_EQ(compiled.compile(), "") << compiled.printed(0).text;
  const auto got = compiled.run({{0, {reals({1, 2}, {2}), reals({1}, {1})}}});
  EXPECT_EQ(got.at(0).error,
            "a \"b\\ c\n\t\x01"
            "2 \xc3\xa9");
}

TEST(Includes, FollowFromTheText) {
  EXPECT_EQ(
      cxx::includes_of("// std::vector\nthrow std::runtime_error(\"std::sin \\\" std::cos\");"),
      "#include <stdexcept>\n");
  EXPECT_EQ(cxx::includes_of("std::numeric_limits<std::int64_t>::min() + my_std::tan"),
            "#include <cstdint>\n#include <limits>\n");
}
TEST(Includes, OfExtremeNumbers) {
  const GraphRef g = graph_of({i64()}, [](const Vals& p) {
    return Vals{p[0] + integer(std::numeric_limits<std::int64_t>::min())};
  });
  EXPECT_NE(plain(g).find("#include <limits>\n"), std::string::npos) << plain(g);
}

}  // namespace
}  // namespace tlaloc::testing
