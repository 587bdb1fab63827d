#include "tlaloc/ir/print.h"

#include <gtest/gtest.h>

#include <limits>

#include "tlaloc/ir/testdata/test_ops.h"

namespace tlaloc::ir {
namespace {

using namespace test;

TEST(Print, AGraphReadsAsItIsWrittenByHand) {
  const Symbol n = Symbol::fresh("n");
  Builder b("loss");
  const Val x = b.param(f32({n, 4}), {"x", {"batch", ""}});
  const Val w = b.param(f32({n, 4}), {"layers[0].w", {}});
  const Val y = add(x, sin(w));
  const GraphRef g = b.build(Vals{sum(y)}, {.result_labels = {{"loss", {}}}});
  EXPECT_EQ(
      g->to_string(),
      "graph @loss {n} (%x {batch, _}: f32[n, 4], %layers_0_.w \"layers[0].w\": f32[n, 4]) -> "
      "(\"loss\": f32[]) {\n"
      "  %2 = sin(%layers_0_.w) : f32[n, 4]\n"
      "  %3 = add(%x, %2) : f32[n, 4]\n"
      "  %4 = sum(%3) : f32[]\n"
      "  return %4\n"
      "}\n");
}

TEST(Print, SymbolsHaveTheirFacts) {
  const Symbol n = Symbol::fresh(SymbolFacts{.name = "n", .lower = 1, .upper = 128});
  const Symbol m = Symbol::fresh(SymbolFacts{.name = "m", .multiple_of = 8, .typical = 64});
  const Symbol k = Symbol::fresh(SymbolFacts{.name = "max", .lower = 2});
  Builder b;
  const Val x = b.param(f32({n, m, k}));
  EXPECT_EQ(b.build(Vals{x})->to_string(),
            "graph {n in 1..128, m % 8 ~ 64, max_ in 2..} (%0: f32[n, m, max_]) -> "
            "(f32[n, m, max_]) {\n"
            "  return %0\n"
            "}\n");
}

TEST(Print, SizesFollowTheOrderOfTheGraphNotOfTheirCreation) {
  const Symbol late = Symbol::fresh("m"), early = Symbol::fresh("n");
  Builder b;
  const Val x = b.param(f32({early}));
  const Val y = b.param(f32({Dim(late) * early + min(Dim(late), Dim(early)) * 2 - late}));
  EXPECT_EQ(b.build(Vals{x, y})->to_string(),
            "graph {n, m} (%0: f32[n], %1: f32[n*m-m+2*min(n, m)]) -> "
            "(f32[n], f32[n*m-m+2*min(n, m)]) {\n"
            "  return %0, %1\n"
            "}\n");
}

TEST(Print, NamesComeFromOriginsAndAreUnique) {
  Builder b;
  const Val x = b.param(f32({}), {"x", {}});
  Vals out;
  {
    OriginScope scope(Origin{.name = "x"});
    out.push_back(sin(x));
  }
  {
    OriginScope scope(Origin{.name = "x", .role = Role::tangent});
    out.push_back(sin(out.back()));
  }
  {
    OriginScope scope(Origin{.name = "x", .role = Role::cotangent});
    const Vals split = b.emit_all(kSplit, nullptr, Vals{out[0]});
    out.insert(out.end(), split.begin(), split.end());
  }
  EXPECT_EQ(b.build(out)->to_string(),
            "graph (%x: f32[]) -> (f32[], f32[], f32[], f32[]) {\n"
            "  %x_1 = sin(%x) : f32[]\n"
            "  %x_dot = sin(%x_1) : f32[]\n"
            "  %d_x, %d_x_1 = split(%x_1) : f32[], f32[]\n"
            "  return %x_1, %x_dot, %d_x, %d_x_1\n"
            "}\n");
}

}  // namespace
}  // namespace tlaloc::ir
