// Sizes that fit no memory are errors, in compiled code too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/transform/program.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/val_reduce.h"

namespace tlaloc::testing {
namespace {

using ::testing::HasSubstr;

/// A loop of n trips, and then an array of T × T × T × T elements for the T that it took.
GraphRef large_from_trips() {
  return graph_of({i64()}, [](const Vals& p) -> Vals {
    const Type i = i64();
    ir::WhileParts parts;
    parts.inv = {p[0]};
    parts.init = {integer(0)};
    parts.cond = graph_of({i, i}, [](const Vals& b) -> Vals { return {b[1] < b[0]}; });
    parts.body = graph_of({i, i}, [](const Vals& b) -> Vals { return {b[1] + integer(1)}; });
    const auto loop = ir::emit_while(parts);
    const Dim trips = loop.bound[0];
    const std::vector<Dim> shape(4, trips * 32768);
    return {ops::exp(ops::broadcast_in_dim(real(1), shape, {}))};
  });
}

class Absurd : public ::testing::TestWithParam<bool> {};

TEST_P(Absurd, SizesOfComputedDims) {
  const auto e = cpu::cpu_backend().compile(large_from_trips(), {.run_once = GetParam()});
  const auto run = [&](std::int64_t n) {
    return e->run({runtime::Buffer(HostArray::scalar(n))}).outputs[0].to_host();
  };
  EXPECT_EQ(run(0).size(), 0);
  // 2^64 elements, which would wrap to none.
  try {
    run(2);
    FAIL() << "an absurd size went unseen";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("TL-SIZE-001"));
  }
  EXPECT_EQ(run(0).size(), 0) << "a failure leaves nothing behind";
}
/// Windows whose strides and dilations are stepped over once only.
TEST(AbsurdWindows, Strides) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 61;
  for (int which = 0; which < 8; ++which) {
    ops::Window w = ops::plain_window({Dim(1)});
    if (which & 1) w.strides[0] = kHuge + 1;
    if (which & 2) w.base_dilation[0] = kHuge;
    if (which & 4) w.window_dilation[0] = kHuge - 1;
    w.low[0] = w.high[0] = 1;
    const Type x = Type::get(DType::f32, {1});
    const GraphRef g = graph_of({x}, [&](const Vals& p) -> Vals {
      return {ops::reduce_window(p[0], ops::Monoid::sum, w)};
    });
    const HostArray one = HostArray(DType::f32, {1});
    const auto got =
        cpu::cpu_backend().compile(g)->run({runtime::Buffer(one)}).outputs[0].to_host();
    EXPECT_TRUE(identical(got, interp::run(*g, {one})[0])) << which;
  }
}

INSTANTIATE_TEST_SUITE_P(Compiled, Absurd, ::testing::Bool());

}  // namespace
}  // namespace tlaloc::testing
