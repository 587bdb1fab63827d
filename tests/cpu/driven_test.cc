// Long rows of steps, which the machine runs in place of generated calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/native.h"
#include "tlaloc/cpu/plan.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::GraphRef;
using ir::Val;
using ops::operator+;
using ops::operator*;
using runtime::Buffer;

/// Products, loops between them, sums of whole arrays, scatters with equal places, and a size that
/// must fit: x [n, 8], w [8, 8], places i32 [n], m = n.
GraphRef long_program(int layers) {
  ir::Builder b("f");
  const Dim n = ir::Symbol::fresh("n"), m = ir::Symbol::fresh("m");
  Val x = b.param(ir::Type::get(DType::f32, {n, 8}));
  const Val w = b.param(ir::Type::get(DType::f32, {8, 8}));
  const Val places = b.param(ir::Type::get(DType::i32, {n}));
  const Val like = b.param(ir::Type::get(DType::f32, {m, 8}));
  const std::int64_t all[] = {0, 1};
  for (int i = 0; i < layers; ++i) {
    x = ops::dot_general(x, w, {.lhs_contract = {1}, .rhs_contract = {0}});
    const Val sum = ops::reduce_sum(x, all);
    x = ops::tanh(x + ops::broadcast_in_dim(sum, x.shape(), {}) * (0.01 * i));
    x = ops::scatter_at(x, places, x * 0.5, 0, ops::Update::add);
    if (i == layers / 2) {
      b.require({ir::Constraint::Kind::equal, n, m});
      x = x + ops::reshape(like, x.shape());
    }
  }
  return b.build(ir::Vals{x});
}

HostArray numbers(Extents extents) {
  HostArray a(DType::f32, std::move(extents));
  std::uint32_t state = 3;
  for (float& v : a.as_mutable<float>()) {
    v = static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) / 16777216.0f - 0.5f;
  }
  return a;
}
HostArray places(std::int64_t n) {
  HostArray a(DType::i32, {n});
  for (std::int64_t i = 0; i < n; ++i)
    a.as_mutable<std::int32_t>()[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(i * i % n);
  return a;
}

TEST(Driven, LongRowsOfStepsAreLeftToTheMachine) {
  const auto driven = [](const GraphRef& g) {
    const Native native = compile_native(*plan(g));
    return std::ranges::count_if(native.driven, [](std::int32_t k) { return k >= 0; });
  };
  EXPECT_EQ(driven(long_program(1)), 0);
  EXPECT_GE(driven(long_program(20)), 50);
}

TEST(Driven, GivesWhatTheInterpreterGives) {
  const GraphRef g = long_program(20);
  const auto executable = cpu_backend().compile(g);
  for (const std::int64_t n : {0, 1, 5, 64, 3000, 20000}) {
    const std::vector<HostArray> in{numbers({n, 8}), numbers({8, 8}), places(n), numbers({n, 8})};
    const HostArray want = interp::run(*g, in)[0];
    std::vector<Buffer> buffers;
    for (const HostArray& a : in) buffers.emplace_back(a);
    HostArray first;
    for (const int threads : {1, 2}) {
      set_num_threads(threads);
      const HostArray have = executable->run(buffers).outputs[0].to_host();
      ASSERT_EQ(have.extents(), want.extents());
      for (std::int64_t i = 0; i < have.size(); ++i) {
        ASSERT_NEAR(have.element(i), want.element(i), 2e-3 * (1 + std::abs(want.element(i)))) << n;
      }
      if (threads == 2) {
        EXPECT_TRUE(identical(have, first)) << n;
      }
      first = have;
    }
  }
}

TEST(Driven, ChecksOfSizesFailWithinARow) {
  const auto executable = cpu_backend().compile(long_program(20));
  try {
    executable->run({Buffer(numbers({4, 8})), Buffer(numbers({8, 8})), Buffer(places(4)),
                     Buffer(numbers({5, 8}))});
    FAIL() << "the sizes do not agree";
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), ::testing::HasSubstr("TL-SHAPE-001"));
  }
}

TEST(Driven, CanBeCancelled) {
  const auto executable = cpu_backend().compile(long_program(20));
  runtime::RunOptions options;
  options.cancel.emplace();
  options.cancel->cancel();
  EXPECT_THROW(executable->run({Buffer(numbers({4, 8})), Buffer(numbers({8, 8})), Buffer(places(4)),
                                Buffer(numbers({4, 8}))},
                               options),
               UserError);
}

/// Sums that wait for each other: between two steps of code there is a number to compute.
GraphRef sums(int count) {
  ir::Builder b("f");
  const Val x = b.param(ir::Type::get(DType::f32, {1000}));
  Val sum = b.param(ir::Type::get(DType::f32, {}));
  const std::int64_t all[] = {0};
  for (int i = 0; i < count; ++i) {
    const Val y = x * ops::broadcast_in_dim(sum, x.shape(), {});
    sum = sum * 0.5 + ops::reduce_sum(ops::tanh(y), all);
  }
  return b.build(ir::Vals{sum});
}

TEST(Driven, CodeCanBeCancelledBetweenSteps) {
  const GraphRef g = sums(40);
  ASSERT_TRUE(compile_native(*plan(g)).rows.empty());
  const auto executable = cpu_backend().compile(g);
  const std::vector<Buffer> in{Buffer(numbers({1000})), Buffer(HostArray::scalar(1.0f))};
  runtime::RunOptions options;
  options.cancel.emplace();
  EXPECT_NO_THROW(executable->run(in, options));
  options.cancel->cancel();
  try {
    executable->run(in, options);
    FAIL() << "it was cancelled";
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-CANCEL-001");
  }
}

}  // namespace
}  // namespace tlaloc::cpu
