// Graphs that a planner may get wrong, or take too long for.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/transform/program.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/plan.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/dot.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

HostArray on_cpu(const GraphRef& g, const std::vector<HostArray>& args, bool compiled) {
  std::vector<runtime::Buffer> inputs(args.begin(), args.end());
  return cpu::cpu_backend()
      .compile(g, {.run_once = !compiled})
      ->run(std::move(inputs))
      .outputs[0]
      .to_host();
}
void expect_interpreters(const GraphRef& g, const std::vector<HostArray>& args) {
  const HostArray want = interp::run(*g, args)[0];
  for (bool compiled : {false, true}) {
    EXPECT_EQ(to_string(on_cpu(g, args, compiled)), to_string(want)) << compiled;
  }
}

/// A result that nobody reads, and one value that is two results, in the other arm.
TEST(Planner, ArmsOfABranchKeepTheirResultsApart) {
  const Type x = f64({4});
  const GraphRef then = graph_of({x}, [](const Vals& p) -> Vals { return {p[0], ops::exp(p[0])}; });
  const GraphRef other = graph_of({x}, [](const Vals& p) -> Vals {
    const Val y = -p[0];
    return {y, y};
  });
  const GraphRef g = graph_of({Type::scalar(DType::boolean), x}, [&](const Vals& p) -> Vals {
    const Type types[] = {x, x};
    return {ir::emit_if(p[0], std::span(p).subspan(1),
                        {ir::make_region(then, {}), ir::make_region(other, {})}, types)
                .out[0]};
  });
  for (bool taken : {false, true}) {
    expect_interpreters(g, {HostArray::scalar(taken), reals({0, 1, 2, 3}, {4})});
  }
}

/// Each level reads the one before as it lies and in opposite order.
TEST(Planner, ValuesReadInTwoOrdersAreComputedOnce) {
  const std::int64_t axis[] = {0};
  auto folded = [&](int levels) {
    return graph_of({f64({4})}, [&](const Vals& p) -> Vals {
      Val y = p[0];
      for (int k = 0; k < levels; ++k) y = y + ops::reverse(y, axis);
      return {y};
    });
  };
  expect_interpreters(folded(6), {reals({1, 2, 3, 4}, {4})});
  EXPECT_LE(cpu::plan(folded(32))->steps.size(), 64U);
}

/// A loop that records numbers, short rows, integers, long rows, and what is also a result; and one
/// that reads them from the end on.
GraphRef recorded_and_read() {
  const Type x = f64(), v = f64({3}), w = f64({40}), i = i64();
  return graph_of({i, x, v, w}, [&](const Vals& p) -> Vals {
    const std::int64_t all[] = {0};
    const auto loop = ir::emit_while(
        {.inv = {p[0]},
         .init = {integer(0), p[1], p[2], p[3]},
         .cond = graph_of({i, i, x, v, w}, [](const Vals& b) -> Vals { return {b[1] < b[0]}; }),
         .body = graph_of({i, i, x, v, w}, [](const Vals& b) -> Vals {
           return {b[1] + integer(1),
                   b[2] * 1.5,
                   b[3] + ops::broadcast_to(b[2], b[3].type().shape()),
                   b[4] * 0.5,
                   b[2],
                   b[3],
                   b[1],
                   b[4],
                   b[2] * 2.0};
         })});
    const std::size_t first = 4;  // behind the carries
    const auto scan = ir::emit_scan(
        {.init = {real(0)},
         .xs = {loop.out.begin() + first, loop.out.begin() + first + 4},
         .body = graph_of({x, x, v, i, w},
                          [&](const Vals& b) -> Vals {
                            return {b[0] * 0.5 + b[1] * ops::reduce_sum(b[2], all) +
                                    ops::convert(b[3], DType::f64) + ops::reduce_sum(b[4], all)};
                          }),
         .length = loop.bound[0],
         .reverse = true});
    return {scan.out[0], loop.out[first + 4]};
  });
}
TEST(Planner, ShortHistoriesThatAreReadByRowsShareAnArray) {
  const GraphRef g = recorded_and_read();
  const auto p = cpu::plan(g);
  const auto arrays = std::ranges::count(p->code, cpu::Code::grow, &cpu::Instruction::code);
  EXPECT_EQ(arrays, 4) << "numbers and short rows; integers; long rows; what is a result";
  HostArray w(DType::f64, {40});
  for (std::size_t k = 0; k < 40; ++k) w.as_mutable<double>()[k] = static_cast<double>(k) - 20;
  for (const std::int64_t trips : {0, 1, 7}) {
    const std::vector<HostArray> args{HostArray::scalar(trips), HostArray::scalar(0.25),
                                      reals({1, -2, 4}, {3}), w};
    const auto want = interp::run(*g, args);
    for (bool compiled : {false, true}) {
      const auto run = cpu::cpu_backend()
                           .compile(g, {.run_once = !compiled})
                           ->run(std::vector<runtime::Buffer>(args.begin(), args.end()));
      for (std::size_t k = 0; k < want.size(); ++k) {
        EXPECT_EQ(to_string(run.outputs[k].to_host()), to_string(want[k])) << trips << compiled;
      }
    }
  }
}

/// Folds read along whichever kept axis has its elements side by side, by blocks of several
/// vectors, by one vector and one by one; there or elsewhere the results may lie apart.
TEST(Planner, FoldsByVectorsWhereverTheirAxesLie) {
  const std::int64_t first[] = {0}, last[] = {2}, reversed[] = {2, 1, 0};
  for (const std::int64_t width : {5, 16, 70, 150}) {
    const Extents shape{3, 21, width};
    HostArray x(DType::f32, shape);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      x.as_mutable<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i % 13 - 6);
    }
    const Type type = Type::get(DType::f32, {3, 21, width});
    const GraphRef inside = graph_of({type}, [&](const Vals& p) -> Vals {
      const Val t = ops::transpose(p[0], reversed);
      return {ops::reduce_sum(t * t, last)};
    });
    const GraphRef outside = graph_of(
        {type}, [&](const Vals& p) -> Vals { return {ops::reduce_sum(p[0] * p[0], first)}; });
    for (const GraphRef& g : {inside, outside}) {
      const HostArray want = interp::run(*g, {x})[0];
      for (bool compiled : {false, true}) {
        EXPECT_TRUE(identical(on_cpu(g, {x}, compiled), want)) << width << " " << compiled;
      }
    }
  }
}

TEST(Planner, ManyIndicesOfOneWindow) {
  constexpr int kRank = 20;
  std::vector<Dim> shape(kRank, Dim(2)), window(kRank, Dim(1));
  std::vector<Type> types{Type::get(DType::f64, shape), Type::get(DType::f64, window)};
  for (int k = 0; k < kRank; ++k) types.push_back(Type::scalar(DType::u64));
  const GraphRef g = graph_of(types, [&](const Vals& p) -> Vals {
    return {ops::dynamic_update_slice(p[0], p[1], std::span(p).subspan(2))};
  });
  std::vector<HostArray> args{HostArray(DType::f64, Extents(kRank, 2)),
                              HostArray(DType::f64, Extents(kRank, 1))};
  args[1].as_mutable<double>()[0] = 7;
  for (int k = 0; k < kRank; ++k) args.push_back(HostArray::scalar(std::uint64_t(k % 2)));
  const HostArray want = interp::run(*g, args)[0];
  for (bool compiled : {false, true}) EXPECT_TRUE(identical(on_cpu(g, args, compiled), want));
}

/// As backward rules and maps leave them behind.
TEST(Planner, AProductThatIsTransposedIsWrittenThatWay) {
  const GraphRef g = graph_of({f64({2, 3, 4}), f64({2, 4, 5})}, [](const Vals& p) -> Vals {
    const Val y = ops::dot_general(
        p[0], p[1], {.lhs_batch = {0}, .rhs_batch = {0}, .lhs_contract = {2}, .rhs_contract = {1}});
    const std::int64_t order[] = {2, 0, 1};
    return {ops::transpose(y, order)};
  });
  EXPECT_EQ(cpu::plan(g)->steps.size(), 1U);
  HostArray a(DType::f64, {2, 3, 4}), b(DType::f64, {2, 4, 5});
  for (std::size_t i = 0; i < 24; ++i) a.as_mutable<double>()[i] = static_cast<double>(i % 7);
  for (std::size_t i = 0; i < 40; ++i) b.as_mutable<double>()[i] = static_cast<double>(i % 9);
  expect_interpreters(g, {a, b});
}

/// As gradients of slices are added up. Places are clamped.
TEST(Planner, WhatIsAddedToASliceIsAddedWhereThatLies) {
  enum class Added { other, operand, own_result };
  struct Case {
    std::int64_t row, column;
    bool behind;
    Added added;
  };
  for (const Case c : {Case{0, 0, true, Added::other}, Case{1, 2, true, Added::other},
                       Case{-5, 1, false, Added::other}, Case{9, 9, false, Added::other},
                       Case{1, 1, true, Added::operand}, Case{1, 1, false, Added::own_result}}) {
    const GraphRef g = graph_of({f64({4, 5}), f64({3, 3})}, [&](const Vals& p) -> Vals {
      const Val x = ops::sqrt(p[0]);
      const Val starts[] = {ops::constant(HostArray::scalar(c.row)),
                            ops::constant(HostArray::scalar(c.column))};
      const Dim sizes[] = {3, 3};
      const Val there = ops::dynamic_slice(x, starts, sizes);
      Val y = p[1] * p[1];
      const Dim zero[] = {0, 0}, three[] = {3, 3}, one[] = {1, 1};
      // What is read of the operand elsewhere, before it changes.
      if (c.added == Added::operand) y = y * ops::slice(x, zero, three, one);
      // The slice itself has another reader: it is one of several then.
      if (c.added == Added::own_result) y = y * ops::sqrt(there);
      return {ops::dynamic_update_slice(x, c.behind ? there + y : y + there, starts)};
    });
    HostArray a(DType::f64, {4, 5}), b(DType::f64, {3, 3});
    for (std::size_t i = 0; i < 20; ++i) a.as_mutable<double>()[i] = static_cast<double>(i) / 9;
    for (std::size_t i = 0; i < 9; ++i) b.as_mutable<double>()[i] = static_cast<double>(i) - 4;
    expect_interpreters(g, {a, b});
    const auto plan = cpu::plan(g);
    std::size_t steps = 0;
    for (const cpu::Instruction& i : plan->code) steps += i.code == cpu::Code::step;
    // One more than for the root, where the sum is found.
    EXPECT_EQ(steps == 2, c.added == Added::other) << c.row << " " << steps;
  }
}

/// Several readers, which one loop computes with the value.
TEST(Planner, WhatOnlyItsOwnLoopReadsIsNotWritten) {
  const GraphRef g = graph_of({f64({64}), f64({64})}, [](const Vals& p) -> Vals {
    const Val y = ops::sqrt(p[0]);
    return {y + p[1], y * p[1]};
  });
  const auto plan = cpu::plan(g);
  ASSERT_EQ(plan->steps.size(), 1U);
  EXPECT_EQ(plan->steps[0].written().size(), 2U);
  HostArray a(DType::f64, {64}), b(DType::f64, {64});
  for (std::size_t i = 0; i < 64; ++i) {
    a.as_mutable<double>()[i] = static_cast<double>(i) / 70;
    b.as_mutable<double>()[i] = static_cast<double>(i % 5);
  }
  const auto want = interp::run(*g, {a, b});
  for (bool once : {true, false}) {
    std::vector<runtime::Buffer> inputs{runtime::Buffer(a), runtime::Buffer(b)};
    const auto got =
        cpu::cpu_backend().compile(g, {.run_once = once})->run(std::move(inputs)).outputs;
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(to_string(got[k].to_host()), to_string(want[k])) << once << " " << k;
    }
  }
}

TEST(Planner, EmptyArraysMayHaveAnySizesElse) {
  const std::int64_t large = std::int64_t{1} << 40;
  const GraphRef g =
      graph_of({f64({0, large, large})}, [](const Vals& p) -> Vals { return {p[0] + p[0]}; });
  EXPECT_EQ(on_cpu(g, {HostArray(DType::f64, {0, large, large})}, false).size(), 0);
  // Windows over padding alone.
  const ops::Window window{.size = {1, large, large},
                           .strides = {1, 1, 1},
                           .low = {1, 0, 0},
                           .high = {1, 0, 0},
                           .base_dilation = {1, 1, 1},
                           .window_dilation = {1, 1, 1}};
  const GraphRef sums = graph_of({f64({0, large, large})}, [&](const Vals& p) -> Vals {
    return {ops::reduce_window(p[0], ops::Monoid::sum, window)};
  });
  const HostArray padding = on_cpu(sums, {HostArray(DType::f64, {0, large, large})}, false);
  EXPECT_TRUE(identical(padding, HostArray(DType::f64, {2, 1, 1})));
}

/// A product of two arrays that is read far behind them: it waits in their place.
TEST(Planner, WhatWaitsForAFarLoopIsLittle) {
  const Type square = Type::get(DType::f32, {128, 128});
  const GraphRef g = graph_of({square, square}, [](const Vals& p) -> Vals {
    const Val x = ops::matmul(p[0], p[1]), a = ops::exp(x), b = ops::tanh(x);
    const Val slope = a * b, y = ops::matmul(a + b, p[1]);
    return {ops::matmul(y, p[1]) * slope};
  });
  const auto report = cpu::cpu_backend().compile(g)->bind({})->explain({});
  // At the second product: its operands, and the slope.
  std::int64_t at = -1;
  for (std::size_t k = 0, products = 0; k < report.kernels.size(); ++k) {
    if (report.kernels[k].name == "dot_general" && ++products == 2)
      at = static_cast<std::int64_t>(k);
  }
  ASSERT_GE(at, 0);
  EXPECT_EQ(std::ranges::count_if(report.memory,
                                  [&](const runtime::MemoryReport& m) {
                                    return m.kind == "arena" && m.first < at && m.last > at;
                                  }),
            1);
}

}  // namespace
}  // namespace tlaloc::testing
