// Updates happen in the operand's memory unless somebody else holds it; copies are counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tlaloc/interp/testing.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/index_testing.h"

namespace tlaloc::interp {
namespace {

using ir::Dim;
using ir::GraphRef;
using ir::Symbol;
using ir::Type;
using ir::Val;
using ir::Vals;
using namespace testing;  // NOLINT: short forms
using namespace ops;      // NOLINT: the operators

/// for (i = 0; i < n; ++i) a[i] = sin(a[i]), over a of size n.
GraphRef sine_of_each() {
  const Symbol n = Symbol::fresh("n");
  return graph({f64({n})}, [&](const Vals& p) {
    return fori_loop(dim_value(n), {p[0]}, [](const Vals& c) -> Vals {
      return {dynamic_update_index(c[1], sin(dynamic_index(c[1], c[0])), c[0])};
    });
  });
}
HostArray ones(std::int64_t n) {
  HostArray a(DType::f64, {n});
  for (double& x : a.as_mutable<double>()) x = 1;
  return a;
}

TEST(InPlace, ArrayUpdatedInALoop) {
  const GraphRef g = sine_of_each();
  for (std::int64_t n : {0, 1, 100, 400}) {
    Stats stats;
    const auto r = run(*g, owned(ones(n)), {.stats = &stats});
    EXPECT_EQ(stats.copies, 0);
    EXPECT_LE(stats.work, 20 * n + 20);
    for (double x : r[0].as<double>()) EXPECT_EQ(x, std::sin(1.0));
  }
}

TEST(InPlace, HeldArgumentIsCopiedOnce) {
  const HostArray held = ones(100);
  Stats stats;
  run(*sine_of_each(), {held}, {.stats = &stats});
  EXPECT_EQ(stats.copies, 1);
  EXPECT_EQ(held.element(50), 1);
}

TEST(InPlace, ThroughCallsBranchesAndInnerLoops) {
  const Symbol n = Symbol::fresh("n");
  const GraphRef touch = graph({f64({n}), i64()}, [](const Vals& p) -> Vals {
    return {dynamic_update_index(p[0], scalar(2, DType::f64), p[1])};
  });
  const GraphRef g = graph({f64({n})}, [&](const Vals& p) {
    return fori_loop(dim_value(n), {p[0]}, [&](const Vals& outer) -> Vals {
      const Val i = outer[0];
      return fori_loop(scalar_int(3, DType::i64), {outer[1]}, [&](const Vals& inner) -> Vals {
        return cond(
            inner[0] < scalar_int(1, DType::i64), {inner[1], i},
            [&](const Vals& a) { return ir::call_graph({.name = "touch"}, touch, a); },
            [&](const Vals& a) -> Vals {
              return {dynamic_update_index(a[0], scalar(3, DType::f64), a[1])};
            });
      });
    });
  });
  Stats stats;
  const auto r = run(*g, owned(ones(50)), {.stats = &stats});
  EXPECT_EQ(stats.copies, 0);
  EXPECT_EQ(r[0].element(49), 3);
}

TEST(InPlace, AccumulatorTakesScatters) {
  const Symbol n = Symbol::fresh("n");
  const GraphRef g = graph({f64({n})}, [&](const Vals& p) {
    return fori_loop(dim_value(n), {p[0]}, [](const Vals& c) -> Vals {
      const Dim one[] = {1};
      return {scatter_at(c[1], reshape(c[0], one), full(5, f64({1})), 0, Update::add)};
    });
  });
  Stats stats;
  const auto r = run(*g, owned(ones(200)), {.stats = &stats});
  EXPECT_EQ(stats.copies, 0);
  EXPECT_LE(stats.work, 20 * 200 + 20);
  EXPECT_EQ(r[0].element(199), 6);
}

TEST(InPlace, WhatIsReadLaterIsCopied) {
  const GraphRef g = graph({f64({3})}, [](const Vals& p) -> Vals {
    const Val i = scalar_int(1, DType::i64);
    const Val a = dynamic_update_index(p[0], scalar(7, DType::f64), i);
    const Val b = dynamic_update_index(a, scalar(8, DType::f64), i);
    return {b, p[0], dynamic_index(a, i)};
  });
  Stats stats;
  const auto r = run(*g, owned(f64s({1, 2, 3})), {.stats = &stats});
  EXPECT_EQ(stats.copies, 2);
  EXPECT_EQ(to_string(r[0]), "f64[3] {1, 8, 3}");
  EXPECT_EQ(to_string(r[1]), "f64[3] {1, 2, 3}");
  EXPECT_EQ(to_string(r[2]), "f64[] {7}");
}

TEST(InPlace, RecordingTheCarryItselfCosts) {
  // Its history is n per trip anyway; the copy adds as much again, no more.
  const GraphRef g = graph({f64({8})}, [](const Vals& p) -> Vals {
    const auto r = scan({p[0]}, {iota(i64({8}), 0)}, [](const Vals& b) -> Vals {
      return {dynamic_update_index(b[0], scalar(0, DType::f64), b[1]), b[0]};
    });
    return {r.carries[0], r.ys[0]};
  });
  Stats stats;
  const auto r = run(*g, owned(ones(8)), {.stats = &stats});
  EXPECT_EQ(stats.copies, 8);
  EXPECT_EQ(stats.recorded, 64);
  EXPECT_EQ(r[1].element(7 * 8 + 6), 0);
  EXPECT_EQ(r[1].element(7 * 8 + 7), 1);
}

}  // namespace
}  // namespace tlaloc::interp
