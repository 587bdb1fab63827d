#include "tlaloc/cpu/arena.h"

#include <gtest/gtest.h>

#include <random>

#include "tlaloc/base/error.h"

namespace tlaloc::cpu {
namespace {

/// A program of planned storages: elements, first, last.
struct Planned {
  std::int64_t elements;
  std::uint32_t first, last;
};
std::pair<Program, std::vector<std::int64_t>> program(const std::vector<Planned>& storages) {
  Program p;
  std::vector<std::int64_t> slots;
  for (const Planned& s : storages) {
    p.storages.push_back({.kind = Storage::Kind::planned,
                          .dtype = DType::f64,
                          .elements = static_cast<Slot>(slots.size()),
                          .first = s.first,
                          .last = s.last});
    slots.push_back(s.elements);
  }
  return {std::move(p), slots};
}

TEST(Arena, WhatEndsMakesRoom) {
  const auto [p, slots] = program({{8, 0, 1}, {8, 1, 2}, {8, 2, 3}, {8, 3, 4}});
  // The first one still holds something where the second one begins.
  EXPECT_EQ(plan_arena(p, slots).bytes, 128U);
}
TEST(Arena, EmptyAndNegativeSizesTakeNothing) {
  const auto [p, slots] = program({{0, 0, 9}, {-4, 0, 9}});
  EXPECT_EQ(plan_arena(p, slots).bytes, 0U);
}
TEST(Arena, SizesBeyond64BitsAreErrors) {
  const auto [p, slots] = program({{std::int64_t{1} << 61, 0, 9}});
  EXPECT_THROW(plan_arena(p, slots), UserError);
  const auto [q, poison] = program({{kPoison, 0, 9}});
  EXPECT_THROW(plan_arena(q, poison), UserError);
}
TEST(Arena, WhatLivesAtOneTimeNeverOverlaps) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<Planned> storages;
    for (int k = 0; k < 40; ++k) {
      const std::uint32_t first = random() % 50;
      storages.push_back({static_cast<std::int64_t>(random() % 30), first,
                          first + static_cast<std::uint32_t>(random() % 10)});
    }
    const auto [p, slots] = program(storages);
    const ArenaPlan plan = plan_arena(p, slots);
    for (std::size_t a = 0; a < storages.size(); ++a) {
      const std::size_t size = static_cast<std::size_t>(storages[a].elements) * 8;
      EXPECT_LE(plan.offsets[a] + size, plan.bytes);
      EXPECT_EQ(plan.offsets[a] % 64, 0U);
      for (std::size_t b = 0; b < a; ++b) {
        if (storages[a].first > storages[b].last || storages[b].first > storages[a].last) continue;
        const std::size_t other = static_cast<std::size_t>(storages[b].elements) * 8;
        const bool apart =
            plan.offsets[a] + size <= plan.offsets[b] || plan.offsets[b] + other <= plan.offsets[a];
        EXPECT_TRUE(apart) << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace tlaloc::cpu
