// Sizes that differ between the lanes of a vmap: histories of loops whose trip counts do. What lies
// beyond a lane's own size is padding, and must reach no value and no gradient.
#include <gtest/gtest.h>

#include "tests/ops/case.h"
#include "tests/transform/derived.h"
#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/index_testing.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

using Use = std::function<Val(const Vals& p, Val history, Val trips)>;

/// x grows by half until it passes 4; the history holds sin of each step. From 0.5, 3 and 0.1 the
/// trips are 5, 1 and 9.
GraphRef looping(const Use& use) {
  const Type types[] = {Type::scalar(DType::f64), Type::get(DType::f64, {12})};
  return graph_of({types, types + 2}, [&](const Vals& p) {
    const ops::LoopResult r = ops::while_loop(
        {p[0]}, [](const Vals& c) { return Vals{c[0] < ops::scalar(4, DType::f64)}; },
        [](const Vals& c) { return Vals{c[0] * 1.5 + 0.1, ops::sin(c[0])}; });
    return Vals{use(p, r.ys[0], r.trips)};
  });
}
Val zero() { return ops::scalar_int(0, DType::i64); }

/// The vjp of a program over three lanes, with a shared array and cotangent, against a loop.
void expect_lanes_agree(const Use& use) {
  const GraphRef g = looping(use);
  const GraphRef v = transform::vjp(g, {true, true});
  const Arrays starts{arr({}, {0.5}), arr({}, {3}), arr({}, {0.1})};
  const HostArray shared = noise({12});
  const HostArray ct = noise(interp::run(*g, {starts[0], shared})[0].extents(), 2);
  std::vector<Arrays> columns(3);
  for (const HostArray& x : starts) {
    const Arrays r = interp::run(*v, {x, shared, ct});
    for (std::size_t k = 0; k < 3; ++k) columns[k].push_back(r[k]);
  }
  const Arrays got = interp::run(*vmap_of(v, std::vector<bool>{true, false, false}),
                                 {stacked(starts), shared, ct});
  for (std::size_t k = 0; k < 3; ++k) {
    const HostArray want = stacked(columns[k]);
    ASSERT_EQ(got[k].extents(), want.extents());
    for (std::int64_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(got[k].element(i), want.element(i), 1e-12) << "result " << k << " at " << i;
    }
  }
}

TEST(Ragged, LastElement) {
  expect_lanes_agree(
      [](const Vals&, Val h, Val trips) { return ops::dynamic_index(h, trips - 1.0); });
}
TEST(Ragged, EachLaneClampsByItsOwnSize) {
  expect_lanes_agree([](const Vals&, Val h, Val) {
    return ops::dynamic_index(h, ops::scalar_int(100, DType::i64));
  });
}
TEST(Ragged, UpdatesAreClampedToo) {
  expect_lanes_agree([](const Vals& p, Val h, Val trips) {
    return ops::dynamic_index(ops::dynamic_update_index(h, p[0], trips),
                              ops::scalar_int(50, DType::i64));
  });
}
TEST(Ragged, ContractedAxes) {
  expect_lanes_agree([](const Vals&, Val h, Val) { return ops::matmul(h, h); });
}
TEST(Ragged, AWindowOfALanesOwnSize) {
  expect_lanes_agree(
      [](const Vals& p, Val h, Val) { return ops::dynamic_update_slice(p[1], h, Vals{zero()}); });
  expect_lanes_agree([](const Vals& p, Val h, Val) {
    return ops::reduce_sum(ops::slice_axis(p[1], 0, 0, h.dim(0)) * h, ops::AxisList{0});
  });
}
TEST(Ragged, SharedValuesOfRaggedSize) {
  // The sum of 0 … trips - 1 differs between lanes though no operand does.
  expect_lanes_agree([](const Vals& p, Val h, Val) {
    return p[0] * ops::reduce_sum(ops::iota(h.type(), 0), ops::AxisList{0});
  });
}
TEST(Ragged, WhatNeedsOneSizeIsRefusedByName) {
  auto refused = [](const Use& use) {
    try {
      vmap_of(looping(use), std::vector<bool>{true, false});
      return std::string("accepted");
    } catch (const UserError& e) {
      return e.code() + " " + e.info().op;
    }
  };
  const auto total = [](Val v) { return ops::reduce_sum(v, ops::AxisList{0}); };
  EXPECT_EQ(
      refused([&](const Vals&, Val h, Val) { return total(ops::reverse(h, ops::AxisList{0})); }),
      "TL-VMAP-002 reverse");
  EXPECT_EQ(
      refused([&](const Vals& p, Val h, Val) { return total(ops::concatenate(Vals{h, p[1]}, 0)); }),
      "TL-VMAP-002 concatenate");
  EXPECT_EQ(refused([&](const Vals&, Val h, Val) {
              return total(ops::pad(h, ops::scalar(0, DType::f64), std::vector<Dim>{1},
                                    std::vector<Dim>{0}, std::vector<Dim>{0}));
            }),
            "TL-VMAP-002 pad");
  EXPECT_EQ(refused([&](const Vals&, Val h, Val trips) { return ops::take(h, trips, 0); }),
            "TL-VMAP-002 gather");
  EXPECT_EQ(refused([&](const Vals& p, Val h, Val trips) {
              return total(ops::dynamic_update_slice(p[1], h, Vals{trips}));
            }),
            "TL-VMAP-002 dynamic_update_slice");
}

}  // namespace
}  // namespace tlaloc::testing
