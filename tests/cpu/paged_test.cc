// Attention to pages on the CPU back end: what loops find, with the same bits for a token in
// whatever company, in pools that stay where they are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/cpu/steps.h"
#include "tests/ops/paged_problem.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ops/composite.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

using Names = std::vector<std::string>;

HostArray run_kernels(const PagedProblem& p, bool fixed = false) {
  const StepsOfRun r = run_by_steps(p.graph(fixed), p.args());
  EXPECT_EQ(r.names, Names{"paged_attention"});
  return r.results[0];
}

/// Threads that share small work too, and as before behind it.
class Paged : public ::testing::Test {
 protected:
  ~Paged() override {
    cpu::set_num_threads(threads_);
    cpu::set_alone_nanoseconds(alone_);
  }

 private:
  std::int64_t threads_ = cpu::num_threads();
  double alone_ = cpu::alone_nanoseconds();
};

TEST_F(Paged, IsWhatLoopsFind) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 150 && !HasFailure(); ++k) {
    const PagedProblem p = random_paged_problem(random);
    expect_paged(p, run_kernels(p, k % 2 == 0));
  }
}

TEST_F(Paged, OnEveryKindOfCpu) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    std::mt19937_64 random(2);
    for (int k = 0; k < 25 && !HasFailure(); ++k) {
      const PagedProblem p = random_paged_problem(random);
      expect_paged(p, run_kernels(p));
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// Contexts of several spans, where each is a part of its own or all are one.
PagedProblem long_problem(std::mt19937_64& random, std::int64_t window) {
  PagedProblem p{.heads = 6, .kv_heads = 2, .width = 20, .value_width = 24, .page = 16};
  p.pool = DType::bf16;
  p.params.window = window;
  p.lengths = {1700, 600, 70};
  for (const std::int64_t i : {0, 5, 511, 512, 513, 1023, 1024, 1500, 1699}) {
    p.tokens.push_back({0, i});
  }
  for (std::int64_t i = 400; i < 500; ++i) p.tokens.push_back({1, i});
  p.tokens.push_back({2, 69});
  p.tokens.push_back({2, -1});
  p.fill(random);
  return p;
}

TEST_F(Paged, LongContexts) {
  std::mt19937_64 random(3);
  for (const std::int64_t window : {0, 700}) {
    const PagedProblem p = long_problem(random, window);
    for (const double alone : {0.0, 1e12}) {
      cpu::set_alone_nanoseconds(alone);
      expect_paged(p, run_kernels(p));
    }
  }
}

TEST_F(Paged, TheSameBitsForAnyNumberOfThreads) {
  std::mt19937_64 random(4);
  for (const std::int64_t window : {0, 700}) {
    const PagedProblem p = long_problem(random, window);
    const HostArray first = run_kernels(p);
    for (const double alone : {0.0, 1e12}) {
      cpu::set_alone_nanoseconds(alone);
      for (const std::int64_t threads : {1, 2, 3, 4}) {
        cpu::set_num_threads(threads);
        EXPECT_TRUE(identical(run_kernels(p), first)) << threads << " threads";
      }
    }
  }
}

/// Rows of the result that belong to these tokens, one after the other.
void expect_same_bits(const PagedProblem& all, const std::vector<std::size_t>& chosen,
                      std::mt19937_64& random) {
  const HostArray together = run_kernels(all);
  PagedProblem some = all;
  std::vector<PagedProblem::Token> tokens;
  for (std::size_t k : chosen) tokens.push_back(all.tokens[k]);
  some.use(tokens, random);
  const HostArray apart = run_kernels(some);
  const auto row = static_cast<std::size_t>(all.heads * all.value_width) * sizeof(float);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const auto* a = static_cast<const std::byte*>(apart.data()) + k * row;
    const auto* b = static_cast<const std::byte*>(together.data()) + chosen[k] * row;
    EXPECT_EQ(std::memcmp(a, b, row), 0) << all.text() << ": token " << chosen[k];
  }
}

TEST_F(Paged, ATokenHasTheSameBitsInAnyCompany) {
  std::mt19937_64 random(5);
  const auto check = [&](const PagedProblem& p, int trials) {
    for (std::size_t k = 0; k < p.tokens.size() && k < 20; ++k) expect_same_bits(p, {k}, random);
    for (int trial = 0; trial < trials; ++trial) {
      std::vector<std::size_t> chosen;
      for (std::size_t k = 0; k < p.tokens.size(); ++k) {
        if (random() % 3 == 0) chosen.push_back(k);
      }
      std::ranges::shuffle(chosen, random);
      expect_same_bits(p, chosen, random);
    }
  };
  for (int k = 0; k < 40 && !HasFailure(); ++k) check(random_paged_problem(random), 2);
  for (const std::int64_t window : {0, 700}) {
    for (const double alone : {0.0, 1e12}) {
      cpu::set_alone_nanoseconds(alone);
      check(long_problem(random, window), 3);
    }
  }
}

/// Keys and values of later tokens, which rows beside it see, change nothing.
TEST_F(Paged, WhatComesLaterMayBeAnything) {
  std::mt19937_64 random(6);
  PagedProblem p{.heads = 4, .kv_heads = 2, .width = 16, .value_width = 16, .page = 8};
  p.lengths = {100};
  for (std::int64_t i = 0; i < 100; ++i) p.tokens.push_back({0, i});
  p.fill(random);
  const HostArray before = run_kernels(p);
  const float values[] = {std::nanf(""), std::numeric_limits<float>::infinity()};
  for (HostArray* pool : {&p.keys, &p.values}) {
    for (const float value : values) {
      for (std::int64_t place = 40; place < 44; ++place) {
        const std::int64_t page = p.tables.element_int(place / 8);
        float* row = static_cast<float*>(pool->mutable_data()) + (page * 8 + place % 8) * 32;
        std::fill_n(row, 32, value);
      }
      const HostArray after = run_kernels(p);
      EXPECT_EQ(std::memcmp(before.data(), after.data(), 40 * 64 * sizeof(float)), 0);
      EXPECT_TRUE(std::isnan(after.element(99 * 64)));
    }
  }
}

TEST_F(Paged, NumbersOutOfRangeAreTheNearest) {
  std::mt19937_64 random(7);
  PagedProblem p{.lengths = {7, 9}};
  p.tokens = {{-3, 6}, {50, 8}, {0, 1 << 30}};
  p.fill(random);
  p.keys = drawn_floats(random, DType::f32, p.keys.extents());
  p.values = drawn_floats(random, DType::f32, p.values.extents());
  expect_paged(p, run_kernels(p));
}

TEST_F(Paged, WithoutElements) {
  std::mt19937_64 random(8);
  PagedProblem p{.lengths = {3}};
  p.fill(random);
  EXPECT_EQ(run_kernels(p).size(), 0);
  p.use({{0, -1}, {0, 2}}, random);
  for (PagedProblem q : {p, p, p, p}) {
    static int which = 0;
    // No columns, no places in a page, no width of values, no heads.
    if (which == 0) q.tables = HostArray(DType::i32, {1, 0});
    if (which == 1) q.page = 0, q.keys = q.values = HostArray(DType::f32, {5, 0, 1, 4});
    if (which == 2) q.value_width = 0, q.values = HostArray(DType::f32, {5, 4, 1, 0});
    if (which == 3) {
      q.heads = q.kv_heads = 0;
      q.q = HostArray(DType::f32, {2, 0, 4});
      q.keys = q.values = HostArray(DType::f32, {5, 4, 0, 4});
    }
    if (which == 2) q.keys = HostArray(DType::f32, {5, 4, 1, 4});
    SCOPED_TRACE(which++);
    const GraphRef g = q.graph(false);
    const HostArray got = run_by_steps(g, q.args()).results[0];
    EXPECT_TRUE(identical(got, interp::run(*g, q.args())[0]));
  }
}

/// A layer's pool among those of all layers is read where it lies.
TEST_F(Paged, SlicesOfPools) {
  std::mt19937_64 random(9);
  PagedProblem p{.heads = 4, .kv_heads = 2, .width = 8, .value_width = 8, .page = 4};
  p.lengths = {30, 11};
  p.tokens = {{0, 29}, {1, 10}};
  p.fill(random);
  const Extents one = p.keys.extents();
  HostArray both(DType::f32, {2, one[0], one[1], one[2], one[3]});
  auto* to = static_cast<float*>(both.mutable_data());
  std::ranges::copy(p.values.as<float>(), std::ranges::copy(p.keys.as<float>(), to).out);
  const GraphRef plain = p.graph(true);
  const auto types = plain->param_types();
  const Type pools = Type::get(DType::f32, {{2, one[0], one[1], one[2], one[3]}});
  const GraphRef g =
      graph_of({types[0], pools, types[3], types[4], types[5]}, [&](const Vals& in) -> Vals {
        const auto layer = [&](std::int64_t k) {
          return ops::reshape(ops::slice_axis(in[1], 0, k, k + 1), types[1].shape());
        };
        return {ops::paged_attention(in[0], layer(0), layer(1), in[2], in[3], in[4], p.params)};
      });
  const StepsOfRun r = run_by_steps(g, {p.q, both, p.positions, p.sequences, p.tables});
  EXPECT_THAT(r.names, ElementsAre("paged_attention"));
  expect_paged(p, r.results[0]);
}

TEST_F(Paged, UnderVmap) {
  std::mt19937_64 random(10);
  PagedProblem p{.heads = 2, .lengths = {9}, .tokens = {{0, 8}, {0, 3}}};
  p.fill(random);
  const HostArray lanes = drawn_floats(random, DType::f32, {3, 2, 2, 4});
  std::vector<std::optional<int>> axes(6);
  axes[0] = 0;
  const GraphRef g = transform::vmap(p.graph(true), axes, 3);
  std::vector<HostArray> args = p.args();
  args[0] = lanes;
  const HostArray got = run_by_steps(g, args).results[0];
  for (std::int64_t lane = 0; lane < 3; ++lane) {
    p.q = HostArray::from<float>(lanes.as<float>().subspan(static_cast<std::size_t>(lane) * 16, 16),
                                 {2, 2, 4});
    expect_paged(
        p, HostArray::from<float>(got.as<float>().subspan(static_cast<std::size_t>(lane) * 16, 16),
                                  {2, 2, 4}));
  }
}

/// Somebody else's call of that name is what its body says.
TEST_F(Paged, AnotherCallOfThatName) {
  const Type x = f64({3});
  const GraphRef g = graph_of({x}, [](const Vals& p) -> Vals {
    return ops::composite("paged_attention", {}, {p[0]},
                          [](const Vals& in) { return Vals{in[0] + in[0]}; });
  });
  EXPECT_THAT(run_by_steps(g, {reals({1, 2, 3}, {3})}).names, Not(Contains("paged_attention")));
}

/// Runs a graph whose first results are pools, updated: its arguments behind the first `front`
/// ones, which are donated, though no alias is promised. Each result lies where its argument did.
std::vector<HostArray> run_in_pools(const GraphRef& g, const std::vector<HostArray>& args,
                                    std::size_t front, std::size_t pools, bool once) {
  const auto executable = cpu::cpu_backend().compile(g, {.run_once = once});
  std::vector<runtime::Buffer> inputs(args.begin(), args.end());
  runtime::RunOptions run;
  run.donate.assign(args.size(), false);
  std::vector<const void*> memory;
  for (std::size_t k = front; k < front + pools; ++k) {
    HostArray copy(args[k].dtype(), args[k].extents());
    std::memcpy(copy.mutable_data(), args[k].data(), copy.bytes());
    memory.push_back(copy.data());
    inputs[k] = runtime::Buffer(std::move(copy));
    run.donate[k] = true;
  }
  std::vector<HostArray> results;
  for (const runtime::Buffer& b : executable->run(std::move(inputs), run).outputs) {
    results.push_back(b.to_host());
  }
  for (std::size_t k = 0; k < pools; ++k) EXPECT_EQ(results[k].data(), memory[k]);
  return results;
}

/// Pools are written and read where they are, by a program that runs as steps and as code.
TEST_F(Paged, StoringStaysInThePool) {
  std::mt19937_64 random(11);
  PagedProblem p{.heads = 4, .kv_heads = 2, .width = 8, .value_width = 8, .page = 4};
  p.lengths = {30, 11};
  p.tokens = {{0, 29}, {1, 10}};
  p.fill(random);
  const GraphRef plain = p.graph(false);
  const auto types = plain->param_types();
  const Dim tokens = types[0].dim(0);
  const Type rows = Type::get(DType::f32, {{tokens, 2, 8}});
  const Type slots = Type::get(DType::i32, {{tokens}});
  const GraphRef g =
      graph_of({types[0], types[1], types[2], types[3], types[4], types[5], rows, rows, slots},
               [&](const Vals& in) -> Vals {
                 const Val keys = ops::paged_store(in[1], in[6], in[8]);
                 const Val values = ops::paged_store(in[2], in[7], in[8]);
                 return {keys, values,
                         ops::paged_attention(in[0], keys, values, in[3], in[4], in[5], p.params)};
               });
  std::vector<HostArray> args = p.args();
  args.push_back(drawn_floats(random, DType::f32, {2, 2, 8}));
  args.push_back(drawn_floats(random, DType::f32, {2, 2, 8}));
  std::vector<std::int32_t> places;
  for (const auto& t : p.tokens) {
    const std::int64_t columns = p.tables.extents()[1];
    const std::int64_t page = p.tables.element_int(t.sequence * columns + t.position / 4);
    places.push_back(static_cast<std::int32_t>(page * 4 + t.position % 4));
  }
  args.push_back(HostArray::from<std::int32_t>(places, {2}));
  const std::vector<HostArray> want = interp::run(*g, args);
  for (const bool once : {true, false}) {
    const std::vector<HostArray> got = run_in_pools(g, args, 1, 2, once);
    for (std::size_t k : {0, 1}) {
      EXPECT_EQ(std::memcmp(got[k].data(), want[k].data(), want[k].bytes()), 0);
    }
    for (std::int64_t i = 0; i < want[2].size(); ++i) {
      EXPECT_NEAR(got[2].element(i), want[2].element(i), 1e-5);
    }
  }
}

/// The pools of many layers, behind other arguments: each keeps its own memory.
TEST_F(Paged, ManyPools) {
  constexpr std::size_t kPools = 20;
  std::mt19937_64 random(12);
  std::vector<Type> types;
  const Dim pages = Symbol::fresh("pages");
  std::vector<HostArray> args;
  const auto param = [&](Type t, HostArray a) {
    types.push_back(t);
    args.push_back(std::move(a));
  };
  for (int k = 0; k < 11; ++k) param(f64({2}), reals({1, 2}, {2}));
  for (std::size_t k = 0; k < kPools; ++k) {
    param(Type::get(DType::f16, {{pages, 4, 2, 8}}),
          drawn_floats(random, DType::f16, {3, 4, 2, 8}));
  }
  param(Type::get(DType::f32, {{1, 2, 8}}), drawn_floats(random, DType::f32, {1, 2, 8}));
  param(Type::get(DType::i32, {{1}}), HostArray::from<std::int32_t>(std::vector{5}, {1}));
  const GraphRef g = graph_of(types, [&](const Vals& in) -> Vals {
    Vals out;
    for (std::size_t k = 0; k < kPools; ++k) {
      out.push_back(ops::paged_store(in[11 + k], in[11 + kPools], in[12 + kPools]));
    }
    return out;
  });
  const std::vector<HostArray> want = interp::run(*g, args);
  for (const bool once : {true, false}) {
    const std::vector<HostArray> got = run_in_pools(g, args, 11, kPools, once);
    for (std::size_t k = 0; k < kPools; ++k) EXPECT_TRUE(identical(got[k], want[k]));
  }
}

/// Of memory that was never touched the system has nothing: a copy of the pool onto itself would
/// touch all of it.
std::size_t resident_bytes(const void* data, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto at = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (at + page - 1) / page * page, last = (at + bytes) / page * page;
  std::vector<unsigned char> resident((last - first) / page);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(first), last - first, resident.data()), 0);
  return page * static_cast<std::size_t>(
                    std::ranges::count_if(resident, [](auto r) { return (r & 1) != 0; }));
}
TEST_F(Paged, StoringTouchesWhatItWrites) {
  const Dim pages = Symbol::fresh("pages");
  const GraphRef g =
      graph_of({Type::get(DType::f32, {{pages, 16, 8, 64}}), Type::get(DType::f32, {{1, 8, 64}}),
                Type::get(DType::i32, {{1}})},
               [](const Vals& in) -> Vals { return {ops::paged_store(in[0], in[1], in[2])}; });
  const HostArray row(DType::f32, {1, 8, 64});
  const HostArray slot = HostArray::from<std::int32_t>(std::vector{40000}, {1});
  for (const bool once : {true, false}) {
    const auto executable = cpu::cpu_backend().compile(g, {.run_once = once});
    HostArray pool = HostArray::uninitialized(DType::f32, {8192, 16, 8, 64});
    const void* memory = pool.data();
    const std::size_t bytes = pool.bytes();
    std::vector<runtime::Buffer> inputs;
    inputs.emplace_back(std::move(pool));
    inputs.emplace_back(row);
    inputs.emplace_back(slot);
    const auto out = executable->run(std::move(inputs), {.donate = {true, false, false}}).outputs;
    EXPECT_EQ(out[0].to_host().data(), memory);
    EXPECT_LT(resident_bytes(memory, bytes), bytes / 4);
  }
}

}  // namespace
}  // namespace tlaloc::testing
