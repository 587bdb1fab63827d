// Calls of compiled functions that were traced before: what may serve them and what may not.
#include "tlaloc/lang/jit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/create.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/grad.h"
#include "tlaloc/lang/math.h"
#include "tlaloc/lang/math2.h"
#include "tlaloc/lang/nan_mode.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/testing.h"
#include "tlaloc/lang/tree_std.h"
#include "tlaloc/lang/vmap.h"

namespace tlaloc::jit_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

inline constexpr Axis<struct Row> row;
inline constexpr Axis<struct Column> column;
inline constexpr Bounded<struct Slot, 4> slot;
using S = Scalar<double>;
using V = Tensor<double, row>;

template <class X>
std::vector<typename X::element_type> values(const X& x) {
  const auto data = x.data();
  return {data.begin(), data.end()};
}
template <class X>
X of(std::vector<typename X::element_type> elements) {
  return X::from(elements);
}
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(Jit, TypesInTurn) {
  const auto twice = jit([](const auto& x) { return x + x; });
  // More of them than the traces that are found without a lock.
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(twice(S(1.5)).item(), 3);
    EXPECT_EQ(twice(Scalar<float>(2.5f)).item(), 5);
    EXPECT_EQ(twice(Scalar<int>(3)).item(), 6);
    EXPECT_THAT(values(twice(of<Tensor<double, 2>>({1, 2}))), ElementsAre(2, 4));
    EXPECT_THAT(values(twice(of<Tensor<double, 3>>({1, 2, 3}))), ElementsAre(2, 4, 6));
    EXPECT_THAT(values(twice(of<V>({1, 2}))), ElementsAre(2, 4));
    EXPECT_THAT(values(twice(of<Tensor<double, column>>({1, 2}))), ElementsAre(2, 4));
    EXPECT_EQ(twice.state().traces(), 7);
  }
}

TEST(Jit, SizesInTurn) {
  const auto f = jit([](V x, V y, S scale) { return std::tuple(x * scale + y, sum(x)); });
  for (int round = 0; round < 3; ++round) {
    for (int n : {3, 1, 0, 5, 3}) {
      const std::vector<double> at(static_cast<std::size_t>(n), 2), one(at.size(), 1);
      const auto [y, s] = f(V::from(at), V::from(one), 10.0);
      EXPECT_EQ(values(y), std::vector<double>(at.size(), 21));
      EXPECT_EQ(s.item(), 2 * n);
    }
    EXPECT_THAT(error_of([&] { f(of<V>({1, 2}), of<V>({1}), 1.0); }),
                AllOf(HasSubstr("TL-SHAPE-011"), HasSubstr("jit_test.cc")));
  }
  EXPECT_EQ(f.state().traces(), 1);
}

TEST(Jit, AxesWithoutNamesHaveSizesOfTheirOwn) {
  using A = Tensor<double, any>;
  const auto f = jit([](A x, A y) { return sum(x) + sum(y); });
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(f(of<A>({1, 2}), of<A>({3})).item(), 6);
    EXPECT_EQ(f(of<A>({1, 2}), of<A>({3, 4})).item(), 10);
    EXPECT_EQ(f(of<A>({}), of<A>({3, 4})).item(), 7);
  }
  EXPECT_EQ(f.state().traces(), 1);
}

TEST(Jit, BoundsAreCheckedAtEveryCall) {
  using B = Tensor<double, slot>;
  const auto f = jit([](B x) { return sum(x); });
  EXPECT_EQ(f(of<B>({1, 2, 3})).item(), 6);
  EXPECT_EQ(f(of<B>({1, 2, 3, 4})).item(), 10);
  // What no constructor lets through.
  const B five(of<V>({1, 2, 3, 4, 5}).ref());
  EXPECT_THAT(error_of([&] { f(five); }), HasSubstr("above its bound of 4"));
  const auto g = jit([](Tensor<double, 3> x) { return sum(x); });
  EXPECT_EQ(g(of<Tensor<double, 3>>({1, 2, 3})).item(), 6);
  const Tensor<double, 3> two(of<V>({1, 2}).ref());
  EXPECT_THAT(error_of([&] { g(two); }), HasSubstr("TL-SHAPE-002"));
}

TEST(Jit, ArraysAreTracedBySizeUnlessNamed) {
  const auto twice = jit([](const Array& x) { return x + x; });
  const auto plain = [](std::initializer_list<float> elements) {
    return Array::from(std::span(elements.begin(), elements.size()),
                       {static_cast<std::int64_t>(elements.size())});
  };
  const auto result = [&](const Array& x) { return values(as<Tensor<float, any>>(twice(x))); };
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(result(plain({1, 2})), ElementsAre(2, 4));
    EXPECT_THAT(result(plain({1, 2, 3})), ElementsAre(2, 4, 6));
    // The same element type and size under a name, then under another.
    EXPECT_THAT(result(untyped(of<Tensor<float, row>>({1, 2}))), ElementsAre(2, 4));
    EXPECT_THAT(result(untyped(of<Tensor<float, row>>({1, 2, 3}))), ElementsAre(2, 4, 6));
    EXPECT_THAT(result(untyped(of<Tensor<float, column>>({1, 2}))), ElementsAre(2, 4));
  }
  EXPECT_EQ(twice.state().traces(), 4);
}

TEST(Jit, StructureAndNumbersArePartOfATrace) {
  struct In {
    std::vector<S> list;
    std::optional<S> last;
    double factor;
  };
  const auto f = jit([](const In& in) {
    S total = 0.0;
    for (const S& x : in.list) total = total + x;
    if (in.last) total = total + *in.last;
    return total * in.factor;
  });
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(f({{1.0, 2.0}, {}, 1}).item(), 3);
    EXPECT_EQ(f({{1.0}, {2.0}, 1}).item(), 3) << "as many leaves, other structure";
    EXPECT_EQ(f({{1.0}, {2.0}, 10}).item(), 30);
    EXPECT_EQ(f({{}, {}, 10}).item(), 0);
  }
  EXPECT_EQ(f.state().traces(), 4);
  EXPECT_THAT(error_of([&] { f({{1.0}, {S()}, 1}); }), HasSubstr("TL-VALUE-001"));
}

TEST(Jit, ManyThreadsCallOneFunction) {
  const auto f = jit([](const auto& x, const V& w) { return std::tuple(sum(w * w) + sum(x), w); });
  std::vector<std::string> wrong(4);
  const auto work = [&](std::size_t t) {
    for (std::size_t i = 0; i < 300; ++i) {
      const std::vector<double> w((i + t) % 5, 2);
      const double squares = 4 * static_cast<double>(w.size());
      const auto [a, same] = f(S(static_cast<double>(t)), V::from(w));
      if (a.item() != squares + static_cast<double>(t) || values(same) != w) wrong[t] += "scalar ";
      const auto [b, again] = f(of<Tensor<double, 2>>({1, static_cast<double>(i)}), V::from(w));
      if (b.item() != squares + 1 + static_cast<double>(i)) wrong[t] += "tensor ";
    }
  };
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) threads.emplace_back(work, t);
  for (std::thread& t : threads) t.join();
  EXPECT_THAT(wrong, ::testing::Each(""));
}

TEST(Jit, CallsInsideOtherTraces) {
  const auto square = jit([](const S& x) { return x * x; });
  EXPECT_EQ(square(S(3.0)).item(), 9);
  EXPECT_EQ(grad([&](const S& x) { return square(x) * square(S(2.0)); })(S(5.0)).item(), 40)
      << "one call with a value of the trace, one without";
  EXPECT_THAT(values(vmap<0>([&](const S& x) { return square(x); })(of<V>({1, 2, 3}))),
              ElementsAre(1, 4, 9));
  const auto outer = jit([&](const S& x) { return square(x) + square(S(1.0)); });
  EXPECT_EQ(outer(S(2.0)).item(), 5);
  EXPECT_EQ(outer(S(4.0)).item(), 17);
  EXPECT_EQ(square(S(4.0)).item(), 16);
}

TEST(Jit, ModesHaveTracesOfTheirOwn) {
  const auto f = jit([](const S& x) { return log(x); });
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE(std::isnan(f(S(-1.0)).item()));
    EXPECT_EQ(f(S(1.0)).item(), 0);
    const check_nan mode;
    EXPECT_THAT(error_of([&] { f(S(-1.0)); }), HasSubstr("TL-NAN-001"));
    EXPECT_EQ(f(S(1.0)).item(), 0);
  }
  EXPECT_EQ(f.state().traces(), 2);
}

TEST(Jit, ResultsMayBeArguments) {
  const auto f = jit([](const V& x, const V& y) { return std::tuple(x, x + y, x); });
  for (int round = 0; round < 2; ++round) {
    V x = of<V>({1, 2});
    const auto [a, b, c] = f(x, x);
    EXPECT_EQ(a.data().data(), x.data().data()) << "without a copy";
    x = V();
    EXPECT_THAT(values(a), ElementsAre(1, 2));
    EXPECT_THAT(values(b), ElementsAre(2, 4));
    EXPECT_THAT(values(c), ElementsAre(1, 2));
  }
}

TEST(Jit, CapturedArraysAreFrozenForEverySize) {
  V weights = of<V>({1, 2});
  const auto f = jit([&](const V& x, const Tensor<double, column>& y) {
    return sum(x * weights) + sum(y) * sum(exp(weights));
  });
  const double e = std::exp(1) + std::exp(2);
  EXPECT_DOUBLE_EQ(f(of<V>({1, 1}), of<Tensor<double, column>>({1})).item(), 3 + e);
  weights = of<V>({5, 5});
  EXPECT_DOUBLE_EQ(f(of<V>({1, 1}), of<Tensor<double, column>>({1, 2})).item(), 3 + 3 * e);
  EXPECT_THAT(error_of([&] { f(of<V>({1}), of<Tensor<double, column>>({1, 2})); }),
              HasSubstr("TL-SHAPE"));
  EXPECT_DOUBLE_EQ(f(of<V>({2, 1}), of<Tensor<double, column>>({})).item(), 4);
  EXPECT_EQ(f.state().traces(), 1);
}

struct State {
  Tensor<double, 4> value, speed;
};

TEST(Jit, WhatItTakesByValueIsUpdatedInPlace) {
  const auto step = jit([](State s, V forces) {
    const auto speed = s.speed + sum(forces);
    return State{s.value + speed, speed};
  });
  const V forces = of<V>({1, 2});
  State s{of<Tensor<double, 4>>({1, 2, 3, 4}), of<Tensor<double, 4>>({0, 0, 1, 1})};
  for (int round = 1; round <= 3; ++round) {
    const double *value = s.value.data().data(), *speed = s.speed.data().data();
    s = step(std::move(s), forces);
    EXPECT_EQ(s.value.data().data(), value);
    EXPECT_EQ(s.speed.data().data(), speed);
  }
  EXPECT_THAT(values(s.speed), ElementsAre(9, 9, 10, 10));
  EXPECT_THAT(values(s.value), ElementsAre(19, 20, 24, 25));
  EXPECT_THAT(values(forces), ElementsAre(1, 2));
}

TEST(Jit, WhatOthersHoldStays) {
  const auto step = jit([](State s) { return State{s.value * 2 + s.speed, s.speed + 1}; });
  const State s{of<Tensor<double, 4>>({1, 2, 3, 4}), of<Tensor<double, 4>>({0, 0, 1, 1})};
  const State next = step(s);  // a copy
  State moved = s;
  const State again = step(std::move(moved));  // a handle of several
  const Tensor<double, 4> both = of<Tensor<double, 4>>({5, 6, 7, 8});
  const State twice = step({both, both});
  State tied{of<Tensor<double, 4>>({1, 1, 1, 1}), {}};
  tied.speed = tied.value;
  const State untied = step(std::move(tied));  // one array for two leaves
  EXPECT_THAT(values(s.value), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values(s.speed), ElementsAre(0, 0, 1, 1));
  for (const State& x : {next, again}) {
    EXPECT_THAT(values(x.value), ElementsAre(2, 4, 7, 9));
    EXPECT_THAT(values(x.speed), ElementsAre(1, 1, 2, 2));
  }
  EXPECT_THAT(values(both), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(values(twice.value), ElementsAre(15, 18, 21, 24));
  EXPECT_THAT(values(untied.value), ElementsAre(3, 3, 3, 3));
  EXPECT_THAT(values(untied.speed), ElementsAre(2, 2, 2, 2));
}

TEST(Jit, AGenericFunctionUsesUpRvalues) {
  const auto twice = jit([](const auto& x) { return x + x; });
  V x = of<V>({1, 2, 3});
  const double* memory = x.data().data();
  const V kept = twice(x);
  EXPECT_NE(kept.data().data(), memory);
  const V y = twice(std::move(x));
  EXPECT_EQ(y.data().data(), memory);
  EXPECT_THAT(values(y), ElementsAre(2, 4, 6));
  EXPECT_THAT(error_of([&] { twice(x); }), HasSubstr("TL-VALUE-001"));  // NOLINT: moved from
  const V constant = of<V>({1});
  EXPECT_THAT(values(twice(std::move(constant))), ElementsAre(2));  // NOLINT: nothing to move
  EXPECT_THAT(values(constant), ElementsAre(1));
}

TEST(Jit, WhatIsUsedUpIsReadBeforeItIsWritten) {
  // Each result has the other one's argument.
  const auto swap = jit([](V a, V b) { return std::pair(b * 2, a + b); });
  V a = of<V>({1, 2}), b = of<V>({10, 20});
  const auto [x, y] = swap(std::move(a), std::move(b));
  EXPECT_THAT(values(x), ElementsAre(20, 40));
  EXPECT_THAT(values(y), ElementsAre(11, 22));
  // A sum of all of it is read after the first element is due.
  const auto normalize = jit([](V v) { return v / sum(v); });
  EXPECT_THAT(values(normalize(of<V>({1, 3}))), ElementsAre(0.25, 0.75));
}

// One Function for every type, as no callable of C++ makes it.
TEST(Jit, AxesAreComparedWhereTheFunctionIsTheSame) {
  using namespace core::testing;  // NOLINT
  static constexpr core::AxisSpec kTwo[]{dim(2)}, kRows[]{kBatch}, kColumns[]{hidden(-1)};
  const Fn f([](const auto& x) { return std::vector{add(x[0], x[0])}; });
  core::JitCache cache;
  for (int round = 0; round < 2; ++round) {
    for (core::AxesSpec axes :
         {core::AxesSpec(kTwo), core::AxesSpec(kRows), core::AxesSpec(kColumns)}) {
      core::Leaves in;
      in.argument();
      in.add(doubles({2}, {1, 2}), DType::f64, axes);
      const core::Leaves out = core::jit(cache, f, in, Where::current());
      EXPECT_THAT(core::testing::values(out[0]), ElementsAre(2, 4));
      EXPECT_EQ(core::axis(out[0], 0).tag, axes[0].tag);
    }
  }
  EXPECT_EQ(cache.traces(), 3);
}

}  // namespace
}  // namespace tlaloc::jit_test
