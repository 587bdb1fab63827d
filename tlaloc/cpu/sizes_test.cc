#include "tlaloc/cpu/sizes.h"

#include <gtest/gtest.h>

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::Symbol;

/// The value of a dim for n = 7 and m = -3.
std::int64_t value(const std::function<Dim(Dim n, Dim m)>& f, std::int64_t n = 7,
                   std::int64_t m = -3) {
  const Symbol a = Symbol::fresh("n"), b = Symbol::fresh("m");
  SizeTable table;
  const Slot first = table.define(a, 0), second = table.define(b, 0);
  const Slot wanted = table.of(f(a, b));
  auto slots = table.take_slots();
  slots[first] = n;
  slots[second] = m;
  evaluate(table.take_code()[0], slots.data());
  return slots[wanted];
}

TEST(Sizes, Arithmetic) {
  EXPECT_EQ(value([](Dim, Dim) { return Dim(5); }), 5);
  EXPECT_EQ(value([](Dim n, Dim) { return n; }), 7);
  EXPECT_EQ(value([](Dim n, Dim m) { return n * m * 2 - n + 4; }), -45);
  EXPECT_EQ(value([](Dim n, Dim m) { return min(n, m) * max(n, m); }), -21);
  EXPECT_EQ(value([](Dim n, Dim m) { return floordiv(n, m); }), -3);
  EXPECT_EQ(value([](Dim n, Dim m) { return mod(n, m); }), -2);
  EXPECT_EQ(value([](Dim n, Dim m) { return floordiv(m, n); }), -1);
  EXPECT_EQ(value([](Dim n, Dim m) { return mod(m, n); }), 4);
}
TEST(Sizes, WhatHasNoValueIsPoison) {
  const std::int64_t large = std::int64_t{1} << 62;
  EXPECT_EQ(value([](Dim n, Dim) { return n * 4; }, large), kPoison);
  EXPECT_EQ(value([](Dim n, Dim m) { return n + m; }, large, large), kPoison);
  EXPECT_EQ(value([](Dim n, Dim m) { return floordiv(n, m); }, 1, 0), kPoison);
  EXPECT_EQ(value([](Dim n, Dim m) { return mod(n, m); }, 1, 0), kPoison);
  // It spreads, through min and max too.
  EXPECT_EQ(value([](Dim n, Dim m) { return min(n * 4, m) + 1; }, large), kPoison);
}
TEST(Sizes, ADimIsComputedAtTheLastPointOfItsSymbols) {
  const Symbol a = Symbol::fresh("n"), b = Symbol::fresh("m");
  SizeTable table;
  table.define(a, 0);
  const std::uint32_t later = table.new_point();
  const Slot m = table.define(b, later);
  const Slot sum = table.of(Dim(a) + Dim(b)), twice = table.of(Dim(a) * 2);
  EXPECT_EQ(table.point_of(Dim(a) + Dim(b)), later);
  EXPECT_EQ(table.point_of(Dim(a) * 2), 0U);
  EXPECT_EQ(table.of(Dim(b) + Dim(a)), sum) << "equal dims share a slot";
  auto slots = table.take_slots();
  const auto code = table.take_code();
  slots[table.of(a)] = 10;
  evaluate(code[0], slots.data());
  EXPECT_EQ(slots[twice], 20);
  for (std::int64_t size : {1, 5}) {  // as in the trips of a loop
    slots[m] = size;
    evaluate(code[later], slots.data());
    EXPECT_EQ(slots[sum], 10 + size);
  }
}

}  // namespace
}  // namespace tlaloc::cpu
