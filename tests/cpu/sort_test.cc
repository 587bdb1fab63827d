// sort and top_k on the CPU back end: the interpreter's bits, for any type, axis and number of
// keys, with many equals, zeros of both signs, infinities and NaN.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <type_traits>

#include "tests/cpu/steps.h"
#include "tests/transform/program.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

using ::testing::Contains;
using Arrays = std::vector<HostArray>;

constexpr DType kTypes[] = {DType::boolean, DType::i8,  DType::u8,  DType::i16, DType::u16,
                            DType::i32,     DType::u32, DType::i64, DType::u64, DType::f16,
                            DType::bf16,    DType::f32, DType::f64};

/// Few values, so that many are equal, or any bits.
HostArray drawn(std::mt19937_64& random, DType t, Extents extents) {
  HostArray a = HostArray::uninitialized(t, std::move(extents));
  const bool few = random() % 2 == 0;
  dispatch(t, [&]<class T>(TypeTag<T>) {
    T* x = static_cast<T*>(a.mutable_data());
    for (std::int64_t i = 0; i < a.size(); ++i) {
      if constexpr (std::is_same_v<T, bool>) {
        x[i] = random() % 2 != 0;
      } else if constexpr (std::is_integral_v<T>) {
        x[i] = few ? static_cast<T>(random() % 4 - 2) : static_cast<T>(random());
      } else if constexpr (requires { static_cast<float>(T()); }) {
        const double infinity = std::numeric_limits<double>::infinity();
        const double special[] = {0.0, -0.0, infinity, -infinity, std::nan(""), -std::nan("")};
        const double number = std::normal_distribution<double>()(random);
        x[i] = static_cast<T>(static_cast<ComputeType<T>>(few ? special[random() % 6] : number));
      }
    }
  });
  return a;
}

void expect_interpreters(const GraphRef& g, const Arrays& args, const char* step) {
  const StepsOfRun got = run_by_steps(g, args);
  EXPECT_THAT(got.names, Contains(step));
  const Arrays want = interp::run(*g, args);
  for (std::size_t k = 0; k < want.size(); ++k) {
    EXPECT_TRUE(identical(got.results[k], want[k])) << g->to_string();
  }
}

void expect_the_same_compiled(const GraphRef& g, const Arrays& args) {
  const auto got =
      cpu::cpu_backend().compile(g)->run(std::vector<runtime::Buffer>(args.begin(), args.end()));
  EXPECT_TRUE(identical(got.outputs[0].to_host(), interp::run(*g, args)[0])) << g->to_string();
}

Type type_of(const HostArray& a) {
  return Type::get(a.dtype(), std::vector<Dim>(a.extents().begin(), a.extents().end()));
}

TEST(Sort, HasTheInterpretersBits) {
  std::mt19937_64 random(1);
  const std::int64_t sizes[] = {0, 1, 2, 7, 63, 64, 65, 300, 9000};
  for (int trial = 0; trial < 300; ++trial) {
    Extents extents;
    for (std::uint64_t r = 1 + random() % 3; r > 0; --r) {
      extents.push_back(static_cast<std::int64_t>(random() % 4));
    }
    const auto axis = static_cast<int>(random() % extents.size());
    extents[static_cast<std::size_t>(axis)] = sizes[random() % 9];
    std::vector<Type> types;
    Arrays args;
    for (std::uint64_t k = 1 + random() % 3; k > 0; --k) {
      args.push_back(drawn(random, kTypes[random() % std::size(kTypes)], extents));
      types.push_back(type_of(args.back()));
    }
    const auto keys = static_cast<int>(1 + random() % args.size());
    const bool descending = random() % 2 == 0;
    const GraphRef g = graph_of(
        types, [&](const Vals& p) -> Vals { return ops::sort(p, axis, keys, descending); });
    expect_interpreters(g, args, "sort");
    if (HasFailure()) return;
  }
}

TEST(Sort, TheLargestHaveTheInterpretersBits) {
  std::mt19937_64 random(2);
  const std::int64_t sizes[] = {0, 1, 2, 20, 100, 1000};
  for (int trial = 0; trial < 300; ++trial) {
    Extents extents;
    for (std::uint64_t r = random() % 3; r > 0; --r) {
      extents.push_back(static_cast<std::int64_t>(random() % 4));
    }
    const std::int64_t n = sizes[random() % 6];
    extents.push_back(n);
    const HostArray x = drawn(random, kTypes[random() % std::size(kTypes)], extents);
    // Few of many, or about all.
    const std::int64_t k =
        random() % 2 ? n / 20
                     : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n + 1));
    const DType positions = random() % 2 ? DType::i32 : DType::u64;
    const GraphRef g = graph_of({type_of(x)}, [&](const Vals& p) -> Vals {
      const auto [values, at] = ops::top_k(p[0], k, positions);
      return {values, at};
    });
    expect_interpreters(g, {x}, "top_k");
    if (HasFailure()) return;
  }
}

/// By vectors along the axis and across it, and element by element.
TEST(Sort, PositionsOfExtremes) {
  std::mt19937_64 random(5);
  const std::int64_t sizes[] = {1, 2, 15, 16, 40, 100};
  for (int trial = 0; trial < 200; ++trial) {
    Extents extents;
    for (std::uint64_t r = 1 + random() % 3; r > 0; --r) extents.push_back(sizes[random() % 6]);
    const auto axis = static_cast<int>(random() % extents.size());
    const HostArray x = drawn(random, kTypes[random() % std::size(kTypes)], extents);
    const DType positions = random() % 2 ? DType::i32 : DType::i64;
    const bool largest = random() % 2 == 0;
    const GraphRef g = graph_of({type_of(x)}, [&](const Vals& p) -> Vals {
      return {largest ? ops::argmax(p[0], axis, positions) : ops::argmin(p[0], axis, positions)};
    });
    expect_interpreters(g, {x}, largest ? "argmax" : "argmin");
    expect_the_same_compiled(g, {x});
    if (HasFailure()) return;
  }
}

/// A position that is counted by vectors, with any step.
TEST(Sort, CountedPositions) {
  for (const DType t : {DType::i8, DType::i32, DType::u64, DType::bf16, DType::f32, DType::f64}) {
    const Type type = Type::get(t, {3, 50});
    const GraphRef g = graph_of({type}, [&](const Vals& p) -> Vals {
      const Dim start[] = {0, 5}, limit[] = {3, 255}, step[] = {1, 5};
      const Val counted = ops::slice(ops::iota(Type::get(t, {3, 260}), 1), start, limit, step);
      const std::int64_t last[] = {1};
      return {ops::select(p[0] < counted, counted, ops::reverse(counted, last))};
    });
    std::mt19937_64 random(6);
    const HostArray x = drawn(random, t, {3, 50});
    expect_the_same_compiled(g, {x});
  }
}

TEST(Sort, SizesMayBeSymbols) {
  const Dim n = Symbol::fresh("n"), m = Symbol::fresh("m");
  const GraphRef g = graph_of({Type::get(DType::f32, {n, m})}, [&](const Vals& p) -> Vals {
    const auto [sorted, at] = ops::sort(p[0], 0, true);
    const auto [top, where] = ops::top_k(p[0], floordiv(m, 2));
    return {sorted, at, top, where};
  });
  std::mt19937_64 random(3);
  for (const Extents& e : {Extents{3, 4}, Extents{0, 4}, Extents{200, 1}, Extents{5, 0}}) {
    expect_interpreters(g, {drawn(random, DType::f32, e)}, "sort");
  }
}

/// Enough for several threads.
TEST(Sort, LinesOnSeveralThreads) {
  std::mt19937_64 random(4);
  const HostArray x = drawn(random, DType::f32, {300, 500});
  const GraphRef g = graph_of({type_of(x)}, [&](const Vals& p) -> Vals {
    return {ops::sort(p[0], 0).values, ops::top_k(p[0], 7).positions};
  });
  const std::int64_t before = cpu::num_threads();
  cpu::set_num_threads(3);
  expect_interpreters(g, {x}, "sort");
  cpu::set_num_threads(before);
}

}  // namespace
}  // namespace tlaloc::testing
