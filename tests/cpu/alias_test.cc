// Results that lie where aliases say, on the CPU back end: bound, donated, and promised in vain.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/transform/program.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::testing {
namespace {

using runtime::Buffer;
using ::testing::HasSubstr;

HostArray ones(Extents extents) {
  HostArray a(DType::f64, std::move(extents));
  std::ranges::fill(a.as_mutable<double>(), 1.0);
  return a;
}
template <class F>
std::string error_of(const F& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "none";
}
Type square() { return Type::get(DType::f64, {4, 4}); }
Val turned(Val x) { return ops::transpose(x, std::vector<std::int64_t>{1, 0}); }

/// With a number of arguments that the bits of a vector have no room behind.
TEST(Alias, OfABoundArgumentIsNone) {
  const GraphRef g = graph_of(std::vector<Type>(65, square()), [](const Vals& p) -> Vals {
    Val sum = p[0] + p[1];
    for (std::size_t k = 2; k < p.size(); ++k) sum = sum + p[k];
    return {sum};
  });
  const auto e = cpu::cpu_backend().compile(g, {.aliases = {{.param = 0, .result = 0}}});
  const auto bound = e->bind({{0, Buffer(ones({4, 4}))}});
  std::vector<Buffer> args;
  for (int k = 0; k < 64; ++k) args.emplace_back(ones({4, 4}));
  EXPECT_EQ(bound->run(std::move(args)).outputs[0].to_host().element(5), 65);
}

TEST(Alias, HoldsInRunsOfArrays) {
  const GraphRef g =
      graph_of({square(), square()}, [](const Vals& p) -> Vals { return {p[0] + p[1]}; });
  for (runtime::Backend* b : {&cpu::cpu_backend(), &interp::interp_backend()}) {
    const auto e = b->compile(g, {.aliases = {{.param = 0, .result = 0, .must = true}}});
    const auto bound = e->bind({});
    HostArray pool = ones({4, 4});
    const HostArray x = ones({4, 4});
    const void* memory = pool.data();
    const HostArray* args[] = {&pool, &x};
    HostArray* donated[] = {&pool, nullptr};
    const auto y = bound->run_host(args, {}, donated);
    EXPECT_EQ(y[0].data(), memory);
    EXPECT_EQ(y[0].element(3), 2);
    EXPECT_TRUE(pool.empty_handle());
    pool = ones({4, 4});
    const HostArray held = pool;
    EXPECT_THAT(error_of([&] { bound->run_host(args, {}, donated); }), HasSubstr("TL-ALIAS-001"));
    EXPECT_EQ(held.element(3), 1);
    pool = ones({4, 4});
    EXPECT_THAT(error_of([&] { bound->run_host(args); }), HasSubstr("which was not donated"));
  }
}

TEST(Alias, ThatCantHoldIsRefusedBeforeAnythingRuns) {
  const GraphRef g =
      graph_of({square(), square()}, [](const Vals& p) -> Vals { return {turned(p[0]) + p[1]}; });
  const runtime::CompileOptions options{.aliases = {{.param = 0, .result = 0, .must = true}}};
  const auto e = cpu::cpu_backend().compile(g, options);
  const std::string why = "result 0 must take over the memory of argument 0, which is still read";
  EXPECT_THAT(error_of([&] { e->bind({}); }), HasSubstr(why));
  EXPECT_THAT(error_of([&] { e->bind({{1, Buffer(ones({4, 4}))}}); }), HasSubstr(why));
  const Buffer pool(ones({4, 4}));
  EXPECT_THAT(error_of([&] { e->run({pool, Buffer(ones({4, 4}))}, {.donate = {true, false}}); }),
              HasSubstr(why));
  EXPECT_FALSE(pool.consumed());
}

TEST(Alias, OfOneArgumentOrResultIsOne) {
  const GraphRef g =
      graph_of({square(), square()}, [](const Vals& p) -> Vals { return {-p[0], -p[1]}; });
  for (const runtime::Alias& second : {runtime::Alias{0, 1}, runtime::Alias{1, 0}}) {
    EXPECT_THAT(error_of([&] { cpu::cpu_backend().compile(g, {.aliases = {{0, 0}, second}}); }),
                HasSubstr("TL-ALIAS-001"));
  }
}

TEST(Alias, WithoutDonationLeavesOtherMemory) {
  const GraphRef g =
      graph_of({square(), square()}, [](const Vals& p) -> Vals { return {p[0] + p[1]}; });
  const auto bound = cpu::cpu_backend().compile(g, {.aliases = {{0, 0}}})->bind({});
  const HostArray x = ones({4, 4});
  HostArray y = ones({4, 4});
  const void* memory = y.data();
  const HostArray* args[] = {&x, &y};
  HostArray* donated[] = {nullptr, &y};
  EXPECT_EQ(bound->run_host(args, {}, donated)[0].data(), memory);
}

TEST(Alias, DonatedPlacesAreOneForEachArgument) {
  const GraphRef g =
      graph_of({square(), square()}, [](const Vals& p) -> Vals { return {p[0] + p[1]}; });
  const auto bound = cpu::cpu_backend().compile(g)->bind({});
  HostArray x = ones({4, 4});
  const HostArray* args[] = {&x, &x};
  HostArray* donated[] = {&x, nullptr, nullptr};
  for (const std::size_t count : {1, 3}) {
    EXPECT_THAT(
        error_of([&] { bound->run_host(args, {}, std::span(donated).first(count)); }),
        HasSubstr("TL-ARITY-001: f: takes 2 arguments, 2 were given; donate needs one flag"));
  }
  EXPECT_EQ(x.element(3), 1);
}

/// The result that is promised the argument multiplies it; the next one can have it.
TEST(Alias, InVainLeavesTheArgumentToOthers) {
  const GraphRef g = graph_of({Type::get(DType::f64, {16, 16})}, [](const Vals& p) -> Vals {
    return {ops::matmul(p[0], p[0]), p[0] + p[0]};
  });
  const auto bound = cpu::cpu_backend().compile(g, {.aliases = {{0, 0}}})->bind({});
  HostArray x = ones({16, 16});
  const void* memory = x.data();
  const HostArray* args[] = {&x};
  HostArray* donated[] = {&x};
  EXPECT_EQ(bound->run_host(args, {}, donated)[1].data(), memory);
}

}  // namespace
}  // namespace tlaloc::testing
