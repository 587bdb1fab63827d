// Counts, not clocks: elements written, history kept, loop bodies run, copies of updated arrays.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/transform/arrays.h"
#include "tests/transform/derived.h"
#include "tests/transform/programs.h"
#include "tlaloc/interp/interp.h"

namespace tlaloc::testing {
namespace {

using interp::Stats;
using N = Policy::Nested;

const Policy kRecompute{.nested = N::recompute}, kAppend{.nested = N::append};

Stats measure(const GraphRef& g, const Arrays& args) {
  Stats s;
  interp::run(*g, args, {.stats = &s});
  return s;
}
std::string text(const Stats& s) {
  return "work " + std::to_string(s.work) + " history " + std::to_string(s.recorded) + " copies " +
         std::to_string(s.copies) + " bodies " + std::to_string(s.bodies);
}
HostArray random_array(std::int64_t n, double low = 0.2, double high = 1) {
  Noise noise(7);
  HostArray a(DType::f64, {n});
  for (double& x : a.as_mutable<double>()) x = noise.uniform(low, high);
  return a;
}
HostArray counting(std::int64_t n, std::int64_t modulus) {
  HostArray a(DType::i64, {n});
  std::int64_t i = 0;
  for (std::int64_t& x : a.as_mutable<std::int64_t>()) x = i++ % modulus;
  return a;
}
GraphRef of_array(Val (*f)(Val)) {
  return graph_of({f64({Symbol::fresh("n")})}, [&](const Vals& p) { return Vals{f(p[0])}; });
}

/// Doubling the size at most doubles work and history (and a constant), and adds no copies.
struct Growth {
  Stats at[3];  // sizes 100, 200, 400
  template <class MakeArgs>
  Growth(const GraphRef& g, const MakeArgs& args) {
    for (int k = 0; k < 3; ++k) at[k] = measure(g, args(100 << k));
  }
};
void expect_linear(const std::string& what, const Growth& m) {
  for (int k = 0; k < 2; ++k) {
    EXPECT_LT(m.at[k + 1].work, 2.2 * static_cast<double>(m.at[k].work)) << what;
    EXPECT_LE(m.at[k + 1].recorded, 2 * m.at[k].recorded + 16) << what;
    EXPECT_EQ(m.at[k + 1].copies, m.at[k].copies) << what;
  }
  std::printf("%-44s %s; %s\n", what.c_str(), text(m.at[0]).c_str(), text(m.at[2]).c_str());
}
Arrays one_array(std::int64_t n) { return {random_array(n)}; }
Arrays two_arrays(std::int64_t n) { return {random_array(n), random_array(n)}; }

// ---- linear in the length ----

class UpdateInPlace : public ::testing::TestWithParam<const char*> {};
TEST_P(UpdateInPlace, IsLinear) {
  const GraphRef& g = program(GetParam()).graph;
  for (const Policy& p : {kRecompute, kAppend}) {
    const Growth first(grad_of(g, p), one_array);
    expect_linear(std::string("grad ") + GetParam(), first);
    EXPECT_LE(first.at[2].recorded, 3 * 400);
    EXPECT_LE(first.at[2].copies, 1);
    const Growth second(grad_of(grad_dot(g, p), p), two_arrays);
    expect_linear(std::string("rev/rev ") + GetParam(), second);
    EXPECT_LE(second.at[2].recorded, 10 * 400);
    EXPECT_LE(second.at[2].copies, 3);
  }
  const Growth forward(directional(g), two_arrays);
  expect_linear(std::string("jvp ") + GetParam(), forward);
  EXPECT_EQ(forward.at[2].recorded, 0) << "forward mode through a while needs no history";
  EXPECT_LE(forward.at[2].copies, 2);
}
INSTANTIATE_TEST_SUITE_P(Complexity, UpdateInPlace,
                         ::testing::Values("array_sin", "array_sin_scan", "recurrence"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Complexity, GatherInALoopIsLinear) {
  for (const Policy& p : {kRecompute, kAppend}) {
    expect_linear("grad s += sin(a[idx[i]] s)",
                  Growth(grad_of(program("gather_acc").graph, p),
                         [](std::int64_t n) { return Arrays{random_array(n), counting(n, n)}; }));
    expect_linear("grad histogram",
                  Growth(grad_of(program("histogram").graph, p),
                         [](std::int64_t n) { return Arrays{random_array(n), counting(n, 4)}; }));
  }
}

// a[i] is read inside a region in a loop: its cotangent must not come back dense each time.
Val if_read(Val a) {
  return fori(size0(a), real(0.3), [&](Val i, Val s) {
    return ops::cond(
        at(a, i) > 0.5, {s},
        [&](const Vals& p) { return Vals{ops::exp(ops::sin(p[0]) * at(a, i))}; },
        [](const Vals& p) { return p; })[0];
  });
}
Val short_inner(Val a) {
  return fori(size0(a), real(0.3), [&](Val i, Val s) {
    return fori(2, s, [&](Val, Val t) { return ops::sin(t * at(a, i)); });
  });
}
Val if_while_read(Val a) {
  return fori(size0(a), real(0.3), [&](Val i, Val s) {
    return ops::cond(
        s > 0.2, {s},
        [&](const Vals& p) {
          return Vals{fori(2, p[0], [&](Val, Val t) { return ops::sin(t + at(a, i)); })};
        },
        [&](const Vals& p) { return Vals{p[0] + at(a, i)}; })[0];
  });
}
TEST(Complexity, ReadsInsideARegionInALoopAreLinear) {
  const std::pair<const char*, Val (*)(Val)> kAll[] = {
      {"if_read", if_read}, {"short_inner", short_inner}, {"if_while_read", if_while_read}};
  for (const auto& [name, f] : kAll) {
    const GraphRef g = of_array(f);
    for (const Policy& p : {kRecompute, kAppend}) {
      expect_linear(std::string("grad ") + name, Growth(grad_of(g, p), one_array));
      expect_linear(std::string("rev/rev ") + name, Growth(grad_of(grad_dot(g, p), p), two_arrays));
    }
  }
}

// ---- residuals ----

TEST(Complexity, OneResidualATrip) {
  const GraphRef g = graph_of({f64(), i64()}, [](const Vals& p) {
    return Vals{fori(p[1], Vals{p[0]}, [](Val, const Vals& c) { return Vals{ops::sin(c[0])}; })[0]};
  });
  const GraphRef gg = grad_of(g, kRecompute);
  for (std::int64_t k : {10, 100, 1000}) {
    const Stats s = measure(gg, {HostArray::scalar(1.0), HostArray::scalar(k)});
    EXPECT_LE(s.recorded, 2 * k);
    EXPECT_EQ(s.bodies, 2 * k);
  }
}

std::size_t residuals(const char* name, Policy::Residuals kept) {
  const GraphRef& g = program(name).graph;
  return transform::linearize(g, transform::differentiable_params(*g), {.residuals = kept})
      .residual_count;
}
TEST(Complexity, XTimesLogisticKeepsTwoArraysNotFour) {
  EXPECT_EQ(residuals("silu", Policy::Residuals::save), 4);
  EXPECT_EQ(residuals("silu", Policy::Residuals::min_cut), 2);
}

TEST(Complexity, LoopInvariantWorkIsHoistedNotStacked) {
  const GraphRef g = grad_of(program("invariant").graph, kRecompute);
  const Stats s = measure(g, {HostArray::scalar(0.3), HostArray::scalar(0.8)});
  EXPECT_LE(s.recorded, 2 * 6);
}

TEST(Complexity, WeightsOfARecurrentNetworkAreNotStacked) {
  constexpr std::int64_t kHidden = 20, kSteps = 50;
  Arrays args{HostArray(DType::f64, {kHidden, kHidden}), random_array(kHidden),
              HostArray(DType::f64, {kSteps, kHidden})};
  for (double& w : args[0].as_mutable<double>()) w = 0.01;
  const Stats s = measure(grad_of(program("rnn").graph, kRecompute), args);
  // Three arrays of hidden units a step, and the cotangent of the step's input.
  EXPECT_LE(s.recorded, kSteps * kHidden * 4);
}

TEST(Complexity, HistoryOfAScanIsItsResiduals) {
  // x' = sin(x) + w·x·s: two arrays per step (x and cos x), and the cotangent of s.
  const GraphRef g = graph_of({f64({8}), f64({8}), f64({Symbol::fresh("n")})}, [](const Vals& p) {
    return Vals{sum(ops::scan({p[0]}, {p[2]}, [&](const Vals& c) {
                      return Vals{ops::sin(c[0]) +
                                  p[1] * c[0] * ops::broadcast_to(c[1], c[0].shape())};
                    }).carries[0])};
  });
  const GraphRef gg = grad_of(g, kRecompute);
  for (std::int64_t steps : {16, 64}) {
    const Stats s = measure(gg, {random_array(8), random_array(8), random_array(steps)});
    EXPECT_LE(s.recorded, steps * (8 + 8 + 1));
  }
}

// ---- branches ----

TEST(Complexity, CondEvaluatesOnlyTheTakenBranch) {
  const GraphRef g = graph_of({f64(), f64({1000})}, [](const Vals& p) {
    return ops::cond(
        p[0] > 0.0, {p[0]}, [&](const Vals& q) { return Vals{q[0] * sum(ops::exp(p[1]))}; },
        [](const Vals& q) { return Vals{ops::sin(q[0])}; });
  });
  const Arrays cheap{HostArray::scalar(-1.0), random_array(1000)},
      dear{HostArray::scalar(1.0), random_array(1000)};
  for (const GraphRef& h :
       {g, grad_of(g, kRecompute), grad_of(grad_dot(g, kRecompute), kRecompute)}) {
    Arrays more;
    if (h->param_count() == 4) more = {HostArray::scalar(1.0), random_array(1000)};
    const Stats a = measure(h, cheap + more), b = measure(h, dear + more);
    EXPECT_GT(b.work, 1000);
    EXPECT_LT(a.work, b.work);
    if (h == g) {
      EXPECT_LT(a.work, 10);
    }
  }
}

double first(const Arrays& r, std::size_t k = 0) { return r[k].as<double>()[0]; }
void expect_finite(const HostArray& a) {
  for (double x : a.as<double>()) EXPECT_TRUE(std::isfinite(x)) << to_string(a);
}

TEST(Lanes, ASingularLaneDoesNotLeak) {
  // cond(x > 0, log(x)·y, 2x): at 0 the gradient is that of the branch taken.
  const GraphRef s = sum_of(vmap_of(program("cond_pos").graph));
  const Arrays x{reals({0, 1, -1}), reals({1, 2, 3})};
  const Arrays g = interp::run(*grad_of(s, kRecompute), x);
  expect_finite(g[0]);
  expect_finite(g[1]);
  EXPECT_EQ(first(g), 2.0);
  const Arrays ones{reals({1, 1, 1}), reals({1, 1, 1})};
  for (const HostArray& a : interp::run(*grad_of(grad_dot(s, kRecompute), kRecompute), x + ones)) {
    expect_finite(a);
  }
}

TEST(Lanes, OnlyLanesThatTakeABranchDriveALoopInIt) {
  // The loop would never end for the NaN lane, which does not take the branch.
  const GraphRef w = graph_of({f64()}, [](const Vals& p) {
    return ops::cond(
        p[0] > 0.0, {p[0]},
        [](const Vals& q) {
          const Val end = while_one(
              q[0], [](Val y) { return !ops::compare(ops::Comparison::eq, y, real(0)); },
              [](Val y) { return y * 0.5 - ops::select(y < 1e-3, y * 0.5, real(0)); });
          return Vals{end + ops::log(q[0])};
        },
        [](const Vals& q) { return q; });
  });
  const Arrays g = interp::run(*vmap_of(grad_of(w, kRecompute)), {reals({0.5, NAN, -1})});
  EXPECT_EQ(g[0].as<double>()[0], 2.0);
  EXPECT_EQ(g[0].as<double>()[2], 1.0);
}

GraphRef shared_sum(const Body& then) {
  const GraphRef g = graph_of({f64(), f64()}, [&](const Vals& p) {
    return ops::cond(p[1] > 0.0, p, then, [](const Vals& q) { return Vals{q[0] * 0.0 + q[1]}; });
  });
  return grad_of(sum_of(vmap_of(g, std::vector<bool>{false, true})), kRecompute);
}
TEST(Lanes, ASharedWeightSumsOverLanesAfterTheirSelect) {
  const Arrays a =
      interp::run(*shared_sum([](const Vals& p) { return Vals{ops::log(p[1]) * p[0]}; }),
                  {HostArray::scalar(2.0), reals({0, 1, -1, std::exp(1.0)})});
  EXPECT_NEAR(first(a), 1, 1e-12);
  // The residual is an operand, and 0/0 in the other lane.
  const Arrays b = interp::run(*shared_sum([](const Vals& p) { return Vals{p[0] / p[1]}; }),
                               {HostArray::scalar(2.0), reals({0, 1, -1, 2})});
  EXPECT_NEAR(first(b), 1.5, 1e-12);
}

TEST(Lanes, TripCountsThatDiffer) {
  const GraphRef& g = program("history").graph;
  const HostArray x = reals({0.56, 0.4, 1.2});  // 2, 0 and 6 trips
  const HostArray y = interp::run(*vmap_of(g), {x})[0];
  for (std::int64_t l = 0; l < 3; ++l) {
    EXPECT_NEAR(y.as<double>()[static_cast<std::size_t>(l)], first(interp::run(*g, {lane(x, l)})),
                1e-12);
  }
}

// ---- nests ----

GraphRef nest(int depth, std::int64_t trips) {
  return graph_of({f64()}, [&](const Vals& p) {
    std::function<Val(int, Val)> level = [&](int k, Val x) {
      if (k == 0) return ops::sin(x) * 1.1;
      return fori(trips, x, [&](Val, Val y) { return level(k - 1, y); });
    };
    return Vals{level(depth, p[0])};
  });
}
TEST(Complexity, BodiesRunInNests) {
  const Arrays x{HostArray::scalar(0.7)};
  // Bodies of grad and grad∘grad over those of the primal. Recomputing runs each level again.
  const double first_order[] = {2.1, 2.9, 3.8}, second_order[] = {4.1, 8.1, 14.1};
  for (int depth = 1; depth <= 3; ++depth) {
    const GraphRef g = nest(depth, 3);
    const auto primal = static_cast<double>(measure(g, x).bodies);
    for (const Policy& p : {kRecompute, kAppend}) {
      const GraphRef d = grad_of(g, p), dd = grad_of(d, p);
      const Stats a = measure(d, x), b = measure(dd, x);
      const bool append = p == kAppend;
      EXPECT_LE(static_cast<double>(a.bodies), primal * (append ? 2.0 : first_order[depth - 1]));
      EXPECT_LE(static_cast<double>(b.bodies), primal * (append ? 4.0 : second_order[depth - 1]));
      std::printf(
          "depth %d %s: grad %.2fx bodies, history %lld; grad grad %.2fx, history %lld; nodes %zu "
          "%zu %zu\n",
          depth, append ? "append" : "recompute", static_cast<double>(a.bodies) / primal,
          static_cast<long long>(a.recorded), static_cast<double>(b.bodies) / primal,
          static_cast<long long>(b.recorded), node_count(*g), node_count(*d), node_count(*dd));
    }
  }
}

}  // namespace
}  // namespace tlaloc::testing
