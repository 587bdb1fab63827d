// Sorting by any comparator and folding with any reducer on the CPU back end: loops that become
// code, with the interpreter's bits, whatever the functions answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "tests/cpu/steps.h"
#include "tests/transform/program.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

using ::testing::Contains;
using ::testing::Not;
using Arrays = std::vector<HostArray>;

/// Many equals, zeros of both signs, infinities and NaN; or everyday numbers.
HostArray drawn(std::mt19937_64& random, DType t, const Extents& extents) {
  HostArray a(t, extents);
  const bool few = random() % 2 == 0;
  dispatch(t, [&]<class T>(TypeTag<T>) {
    if constexpr (!std::is_same_v<T, bool> && requires { static_cast<float>(T()); }) {
      for (T& x : a.as_mutable<T>()) {
        constexpr float kInfinity = std::numeric_limits<float>::infinity();
        const float special[] = {0, -0.0F, kInfinity, -kInfinity, std::nanf(""), 2};
        const float number = std::normal_distribution<float>(0, 3)(random);
        x = is_float(t) ? T(few ? special[random() % 6] : number)
                        : T(static_cast<float>(random() % (few ? 4 : 100)));
      }
    }
  });
  return a;
}
Type type_of(const HostArray& a) {
  return Type::get(a.dtype(), std::vector<Dim>(a.extents().begin(), a.extents().end()));
}

void expect_interpreters(const GraphRef& g, const Arrays& args, const std::string& op) {
  const StepsOfRun steps = run_by_steps(g, args);
  EXPECT_THAT(steps.names, Not(Contains(op)));
  const auto compiled =
      cpu::cpu_backend().compile(g)->run(std::vector<runtime::Buffer>(args.begin(), args.end()));
  const Arrays want = interp::run(*g, args);
  for (std::size_t k = 0; k < want.size(); ++k) {
    EXPECT_TRUE(identical(steps.results[k], want[k])) << g->to_string();
    EXPECT_TRUE(identical(compiled.outputs[k].to_host(), want[k])) << g->to_string();
  }
}

ir::GraphAttr scalar_function(const std::vector<DType>& types,
                              const std::function<Vals(const Vals&)>& f) {
  std::vector<Type> params;
  for (DType t : types) params.push_back(Type::scalar(t));
  return {graph_of(params, f)};
}

constexpr DType kTypes[] = {DType::i32, DType::u8, DType::f16, DType::bf16, DType::f32, DType::f64};

/// By |a|, by a parity and then a second array, and by what is no order at all.
Val comes_before(std::uint64_t how, const Vals& v) {
  switch (how) {
    case 0:
      return ops::abs(v[0]) < ops::abs(v[1]);
    case 1: {
      const Val a = ops::convert(v[2], DType::f32) * v[0],
                b = ops::convert(v[3], DType::f32) * v[1];
      return ops::logical_or(
          b < a, ops::logical_and(ops::compare(ops::Comparison::eq, a, b), v[2] < v[3]));
    }
    default:
      return ops::logical_not(v[0] < v[1]);
  }
}

TEST(ScalarFunctions, SortHasTheInterpretersBits) {
  std::mt19937_64 random(1);
  const std::int64_t sizes[] = {0, 1, 2, 3, 5, 8, 33, 100};
  for (int trial = 0; trial < 60; ++trial) {
    Extents extents;
    for (std::uint64_t r = 1 + random() % 3; r > 0; --r) {
      extents.push_back(static_cast<std::int64_t>(random() % 4));
    }
    const auto axis = static_cast<int>(random() % extents.size());
    extents[static_cast<std::size_t>(axis)] = sizes[random() % 8];
    const DType second = kTypes[random() % std::size(kTypes)];
    const Arrays args{drawn(random, DType::f32, extents), drawn(random, second, extents)};
    const std::uint64_t how = random() % 3;
    const GraphRef g = graph_of({type_of(args[0]), type_of(args[1])}, [&](const Vals& p) {
      return ops::sort(
          p, axis,
          scalar_function({DType::f32, DType::f32, second, second}, [&](const Vals& v) -> Vals {
            return {comes_before(how, v)};
          }).graph);
    });
    expect_interpreters(g, args, "sort");
    if (HasFailure()) return;
  }
}

TEST(ScalarFunctions, ReduceHasTheInterpretersBits) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 60; ++trial) {
    Extents extents;
    for (std::uint64_t r = random() % 4; r > 0; --r) {
      extents.push_back(static_cast<std::int64_t>(random() % 5));
    }
    std::vector<std::int64_t> axes;
    for (std::size_t k = 0; k < extents.size(); ++k) {
      if (random() % 2) axes.push_back(static_cast<std::int64_t>(k));
    }
    const DType t = kTypes[2 + random() % 4], positions = DType::i32;
    const HostArray x = drawn(random, t, extents), at = drawn(random, positions, extents);
    const HostArray start = drawn(random, t, {});
    // (the sum of halves, the position of the largest so far)
    const ir::GraphAttr reducer =
        scalar_function({t, positions, t, positions}, [](const Vals& v) -> Vals {
          return {v[0] * 0.5 + v[2] * v[2], ops::select(v[0] < v[2], v[3], v[1])};
        });
    const GraphRef g = graph_of(
        {type_of(x), type_of(at), Type::scalar(t), Type::scalar(positions)}, [&](const Vals& p) {
          return ops::reduce({{p[0], p[1]}}, {{p[2], p[3]}}, axes, reducer.graph);
        });
    expect_interpreters(g, {x, at, start, drawn(random, positions, {})}, "reduce");
    if (HasFailure()) return;
  }
}

TEST(ScalarFunctions, SizesMayBeSymbols) {
  const Dim n = Symbol::fresh("n"), m = Symbol::fresh("m");
  const auto order = scalar_function({DType::f32, DType::f32}, [](const Vals& v) -> Vals {
    return {ops::sin(v[0]) < ops::sin(v[1])};
  });
  const auto fold = scalar_function({DType::f32, DType::f32},
                                    [](const Vals& v) -> Vals { return {v[0] * 0.25 + v[1]}; });
  const GraphRef g =
      graph_of({Type::get(DType::f32, {n, m}), Type::scalar(DType::f32)}, [&](const Vals& p) {
        const std::int64_t first[] = {0};
        const Vals sorted = ops::sort(std::span(p).first(1), 0, order.graph);
        const Vals folded = ops::reduce({{sorted[0]}}, {{p[1]}}, first, fold.graph);
        return Vals{sorted[0], folded[0]};
      });
  std::mt19937_64 random(3);
  for (const Extents& e : {Extents{3, 4}, Extents{0, 4}, Extents{20, 1}, Extents{5, 0}}) {
    HostArray x(DType::f32, e);
    // Of which sin has one result everywhere.
    for (float& v : x.as_mutable<float>()) v = static_cast<float>(random() % 2);
    const Arrays args{x, HostArray::scalar(1.0F)};
    expect_interpreters(g, args, "sort");
    expect_interpreters(g, args, "reduce");
  }
}

TEST(ScalarFunctions, WindowsOfAnyReducer) {
  const auto fold = scalar_function({DType::f32, DType::f32},
                                    [](const Vals& v) -> Vals { return {v[0] * 0.25 + v[1]}; });
  const GraphRef g =
      graph_of({Type::get(DType::f32, {7, 9}), Type::scalar(DType::f32)}, [&](const Vals& p) {
        ops::Window w = ops::plain_window({3, 2});
        w.strides = {2, 1};
        return ops::reduce_window({{p[0]}}, {{p[1]}}, w, fold.graph);
      });
  std::mt19937_64 random(4);
  expect_interpreters(g, {drawn(random, DType::f32, {7, 9}), HostArray::scalar(0.5F)}, "reduce");
}

}  // namespace
}  // namespace tlaloc::testing
