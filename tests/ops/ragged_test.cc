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
#include "tlaloc/ops/val_system.h"

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

/// What refuses a vmap: the code and the op.
std::string refused(const Use& use) {
  try {
    vmap_of(looping(use), std::vector<bool>{true, false});
    return "accepted";
  } catch (const UserError& e) {
    return e.code() + " " + e.info().op;
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
/// Three filters of 3 taps, and the history of steps and of their squares as one image of two
/// features, [1, 2, n].
Val filters(const Vals& p) {
  return ops::reshape(ops::slice_axis(p[1], 0, 0, 12), std::vector<Dim>{2, 2, 3});
}
Val image(Val h) {
  const std::vector<Dim> row{1, 1, h.dim(0)};
  return ops::concatenate(Vals{ops::reshape(h, row), ops::reshape(h * h, row)}, 1);
}
/// Products of each element of `a` with each of `b`.
Val outer(Val a, Val b) {
  const Dim shape[] = {a.dim(0), b.dim(0)};
  return ops::broadcast_in_dim(a, shape, ops::AxisList{0}) *
         ops::broadcast_in_dim(b, shape, ops::AxisList{1});
}
Val total(Val v) { return ops::reduce_sum(v, ops::axis_range(0, v.rank())); }
ops::ConvAttrs same_size() {
  ops::ConvAttrs a = ops::plain_convolution(1);
  a.low = a.high = {1};
  return a;
}
TEST(Ragged, SpatialAxesOfConvolutions) {
  expect_lanes_agree([](const Vals& p, Val h, Val) {
    return total(ops::sin(ops::convolution(image(h), filters(p), same_size())));
  });
  // The end of the kernel comes first.
  expect_lanes_agree([](const Vals& p, Val h, Val) {
    ops::ConvAttrs a = same_size();
    a.reversed = {true};
    return total(ops::sin(ops::convolution(image(h), filters(p), a)));
  });
  // One feature after the other.
  expect_lanes_agree([](const Vals& p, Val h, Val) {
    ops::ConvAttrs a = same_size();
    a.feature_groups = 2;
    const Val w = ops::reshape(p[1], std::vector<Dim>{4, 1, 3});
    return total(ops::sin(ops::convolution(image(h), w, a)));
  });
}
TEST(Ragged, WindowsOfAConvolution) {
  // Each lane's history is the kernel, over an array that the lanes share: 12 results.
  expect_lanes_agree([](const Vals& p, Val h, Val) {
    ops::ConvAttrs a = ops::plain_convolution(1);
    a.high = {h.dim(0) - 1};
    const Val x = ops::reshape(p[1], std::vector<Dim>{1, 1, 12});
    const Val w = ops::reshape(h, std::vector<Dim>{1, 1, h.dim(0)});
    return total(ops::sin(ops::convolution(x, w, a)));
  });
}
TEST(Ragged, SharedSidesOfAConvolution) {
  // 0 … trips - 1 is shared, yet what the last window meets behind it differs; so does what a
  // window of these numbers adds up. The other side has lanes of its own.
  auto own = [](const Vals& p) {
    return p[1] * ops::broadcast_in_dim(p[0], p[1].shape(), ops::AxisList{});
  };
  auto counts = [](Val h) {
    const Dim shape[] = {1, 1, h.dim(0)};
    return ops::iota(h.type().with_shape(shape), 2);
  };
  expect_lanes_agree([&](const Vals& p, Val h, Val) {
    const Val w = ops::reshape(own(p), std::vector<Dim>{4, 1, 3});
    return total(ops::sin(ops::convolution(counts(h), w, same_size())));
  });
  expect_lanes_agree([&](const Vals& p, Val h, Val) {
    ops::ConvAttrs a = ops::plain_convolution(1);
    a.high = {h.dim(0) - 1};
    const Val x = ops::reshape(own(p), std::vector<Dim>{1, 1, 12});
    return total(ops::sin(ops::convolution(x, counts(h), a)));
  });
  expect_lanes_agree([&](const Vals& p, Val h, Val) {
    const Val w = ops::reshape(p[1], std::vector<Dim>{4, 1, 3});
    return p[0] * total(ops::sin(ops::convolution(counts(h), w, same_size())));
  });
}
TEST(Ragged, AxesThatAReshapeKeeps) {
  expect_lanes_agree([](const Vals& p, Val h, Val) {
    const Dim n = h.dim(0);
    const Val grid = outer(h, p[1]);  // [n, 12]
    const Val parts = ops::reshape(grid, std::vector<Dim>{1, n, 3, 1, 4});
    const Val back = ops::reshape(ops::sin(parts), std::vector<Dim>{n, 12});
    // [n, 12] and [n * 4, 3] hold an element at one place.
    const Val longer = ops::reshape(back, std::vector<Dim>{n * 4, 3});
    return total(ops::reshape(ops::sin(longer), std::vector<Dim>{n, 12}));
  });
  // Both leading and inner groups stay groups: [3, 4, n] and [12, n].
  expect_lanes_agree([](const Vals& p, Val h, Val) {
    const Dim n = h.dim(0);
    const Val grid = ops::reshape(outer(p[1], h), std::vector<Dim>{3, 4, n});
    return total(ops::reshape(ops::sin(grid), std::vector<Dim>{2, 6, n}));
  });
}
TEST(Ragged, QuotientsOfSizes) {
  auto use = [](bool remainder, std::int64_t least) {
    return [=](const Vals& p, Val h, Val) {
      const Dim n = h.dim(0), divisor = n + least;
      const Dim d = remainder ? mod(Dim(17), divisor) + mod(n - 4, Dim(3))
                              : floordiv(Dim(17), divisor) + floordiv(n - 4, Dim(3));
      return p[0] * ops::convert(ops::dim_value(d), DType::f64);
    };
  };
  expect_lanes_agree(use(false, 1));
  expect_lanes_agree(use(true, 1));
  // The number of trips may be 0, and a lane that divides by it has no answer.
  EXPECT_EQ(refused(use(false, 0)), "TL-VMAP-002 vmap");
  EXPECT_EQ(refused(use(true, 0)), "TL-VMAP-002 vmap");
  EXPECT_EQ(refused(use(true, -3)), "TL-VMAP-002 vmap");
}
TEST(Ragged, WindowsThatReachAnEnd) {
  using ops::Monoid;
  auto window = [](Val h, Dim low, Dim high) {
    ops::Window w = ops::plain_window({h.dim(0)});
    w.low = {low};
    w.high = {high};
    return w;
  };
  for (const Monoid monoid : {Monoid::sum, Monoid::max}) {
    // Of three elements: windows beyond a lane's own meet its last element.
    expect_lanes_agree([&](const Vals&, Val h, Val) {
      ops::Window w = ops::plain_window({3});
      w.low = w.high = {1};
      return total(ops::sin(ops::reduce_window(h, monoid, w)));
    });
    expect_lanes_agree([&](const Vals&, Val h, Val) {
      return total(ops::sin(ops::reduce_window(h, monoid, window(h, h.dim(0) - 1, 0))));
    });
    expect_lanes_agree([&](const Vals&, Val h, Val) {
      return total(ops::sin(ops::reduce_window(h, monoid, window(h, 0, h.dim(0) - 1))));
    });
  }
}
TEST(Ragged, WhatNeedsOneSizeIsRefusedByName) {
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
TEST(Ragged, ReshapesThatMoveElementsAreRefused) {
  auto through = [](bool ragged_first, const std::function<std::vector<Dim>(Dim n)>& shape) {
    return [=](const Vals& p, Val h, Val) {
      const Val x = ragged_first ? outer(h, p[1]) : outer(p[1], h);
      return ops::dynamic_index(ops::reshape(x, shape(h.dim(0))), zero());
    };
  };
  const std::string reshape = "TL-VMAP-002 reshape";
  EXPECT_EQ(refused(through(true, [](Dim n) { return std::vector<Dim>{12, n}; })), reshape);
  EXPECT_EQ(refused(through(true, [](Dim n) { return std::vector<Dim>{3, n, 4}; })), reshape);
  EXPECT_EQ(refused(through(false, [](Dim n) { return std::vector<Dim>{n, 12}; })), reshape);
  EXPECT_EQ(refused(through(false, [](Dim n) { return std::vector<Dim>{n * 12}; })), reshape);
  EXPECT_EQ(refused(through(false, [](Dim n) { return std::vector<Dim>{4, n * 3}; })), reshape);
  EXPECT_EQ(refused(through(true, [](Dim n) { return std::vector<Dim>{4, 3, n}; })), reshape);
}
TEST(Ragged, WindowsThatMoveAreRefused) {
  auto convolved = [](const std::function<void(ops::ConvAttrs&, Dim n)>& change) {
    return [=](const Vals& p, Val h, Val) {
      ops::ConvAttrs a = ops::plain_convolution(1);
      a.high = {h.dim(0) - 1};
      change(a, h.dim(0));
      const Val x = ops::reshape(p[1], std::vector<Dim>{1, 1, 12});
      const Val w = ops::reshape(h, std::vector<Dim>{1, 1, h.dim(0)});
      return total(ops::convolution(x, w, a));
    };
  };
  EXPECT_EQ(refused(convolved([](ops::ConvAttrs& a, Dim) { a.reversed = {true}; })),
            "TL-VMAP-002 convolution");
  EXPECT_EQ(refused(convolved([](ops::ConvAttrs& a, Dim) { std::swap(a.low, a.high); })),
            "TL-VMAP-002 convolution");
  EXPECT_EQ(refused([](const Vals& p, Val h, Val) {
              ops::Window w = ops::plain_window({h.dim(0)});
              w.high = {h.dim(0) - 1};
              return total(ops::reduce_window(p[1], ops::Monoid::sum, w));
            }),
            "TL-VMAP-002 reduce_window");
}
TEST(Ragged, ResultsThatShrinkAsALaneGrowsAreRefused) {
  // The longest lane's size of such an axis is the shortest.
  auto first = [](const std::function<Dim(Dim n)>& limit) {
    return [=](const Vals& p, Val h, Val) { return ops::slice_axis(p[1], 0, 0, limit(h.dim(0))); };
  };
  EXPECT_EQ(refused(first([](Dim n) { return 12 - n; })), "TL-VMAP-002 vmap");
  EXPECT_EQ(refused(first([](Dim n) { return mod(n, Dim(5)); })), "TL-VMAP-002 vmap");
  EXPECT_EQ(refused(first([](Dim n) { return max(4 - n, Dim(2)); })), "TL-VMAP-002 vmap");
  EXPECT_EQ(refused(first([](Dim n) { return n; })), "accepted");
  EXPECT_EQ(refused(first([](Dim n) { return min(floordiv(n + 1, Dim(2)), Dim(8)); })), "accepted");
}
TEST(Ragged, GroupsThatMoveAreRefused) {
  auto grouped = [](bool by_batch) {
    return [=](const Vals& p, Val h, Val) {
      ops::ConvAttrs a = ops::plain_convolution(1);
      (by_batch ? a.batch_groups : a.feature_groups) = 2;
      const Val taps = outer(h, ops::slice_axis(p[1], 0, 0, 3));
      const Val x =
          ops::reshape(p[1], by_batch ? std::vector<Dim>{2, 1, 6} : std::vector<Dim>{1, 2, 6});
      return total(ops::convolution(x, ops::reshape(taps, std::vector<Dim>{h.dim(0), 1, 3}), a));
    };
  };
  EXPECT_EQ(refused(grouped(false)), "TL-VMAP-002 convolution");
  EXPECT_EQ(refused(grouped(true)), "TL-VMAP-002 convolution");
}
TEST(Ragged, WhatOthersSeeIsRefused) {
  EXPECT_EQ(refused([](const Vals& p, Val h, Val) {
              const Type result = Type::scalar(DType::f64);
              return p[0] * ops::custom_call("f", "", Vals{ops::iota(h.type(), 0)},
                                             std::vector<Type>{result})[0];
            }),
            "TL-VMAP-002 custom_call");
  EXPECT_EQ(refused([](const Vals&, Val h, Val) {
              return total(ops::all_gather(h, 0, ops::MeshAxis{"x", 2}));
            }),
            "TL-VMAP-002 all_gather");
}
TEST(Ragged, SizesOfAnOpOverSharedOperandsAreRefusedToo) {
  EXPECT_EQ(refused([](const Vals& p, Val h, Val) {
              const Val x = ops::concatenate(Vals{p[1], p[1]}, 0);
              return total(ops::slice_axis(x, 0, h.dim(0), h.dim(0) + 1));
            }),
            "TL-VMAP-002 slice");
  EXPECT_EQ(refused([](const Vals& p, Val h, Val) {
              const Val start[] = {ops::scalar_int(5, DType::i64)};
              const Dim size[] = {h.dim(0)};
              return total(ops::dynamic_slice(p[1], start, size));
            }),
            "TL-VMAP-002 dynamic_slice");
  EXPECT_EQ(refused([](const Vals& p, Val h, Val trips) {
              const Dim size[] = {h.dim(0)};
              return total(ops::dynamic_slice(p[1], Vals{trips}, size));
            }),
            "TL-VMAP-002 dynamic_slice");
}

}  // namespace
}  // namespace tlaloc::testing
