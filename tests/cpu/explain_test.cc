// What explain says of programs, against what they do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "tests/transform/program.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/testing.h"
#include "tlaloc/ops/nn.h"
#include "tlaloc/ops/val_linalg.h"

namespace tlaloc::testing {
namespace {

using runtime::KernelReport;
using runtime::Report;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

Type f32(std::initializer_list<Dim> shape) { return Type::get(DType::f32, shape); }

HostArray numbers(DType t, Extents extents) {
  HostArray a(t, std::move(extents));
  auto fill = [](auto to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(i % 17) / 16;
  };
  if (t == DType::f32) fill(a.as_mutable<float>());
  if (t == DType::f64) fill(a.as_mutable<double>());
  return a;
}

Report explained(const GraphRef& g, const std::vector<HostArray>& args, bool compiled = true) {
  std::vector<const HostArray*> inputs;
  for (const HostArray& a : args) inputs.push_back(&a);
  return cpu::cpu_backend()
      .compile(g, {.run_once = !compiled})
      ->bind({})
      ->explain({.inputs = inputs, .dims = {}});
}
Report explained(const GraphRef& g) { return cpu::cpu_backend().compile(g)->bind({})->explain({}); }

GraphRef layer(Dim n) {
  return graph_of({f32({n, 32}), f32({32, 48}), f32({48})}, [&](const Vals& p) -> Vals {
    const Val h = ops::matmul(p[0], p[1]);
    return {ops::tanh(h + ops::broadcast_to(p[2], h.type().shape()))};
  });
}

class Explain : public cpu::testing::CodegenTest {};

TEST_F(Explain, KernelsSayWhatTheyReadWriteAndCompute) {
  const Report r = explained(layer(64));
  ASSERT_EQ(r.kernels.size(), 2U);
  const KernelReport &dot = r.kernels[0], &loop = r.kernels[1];
  EXPECT_EQ(dot.runs_on, "matrix kernel");
  EXPECT_EQ(dot.space, "64x32x48");
  EXPECT_EQ(dot.flops, 2.0 * 64 * 32 * 48);
  EXPECT_EQ(dot.bytes_read, 4 * (64 * 32 + 32 * 48));
  EXPECT_EQ(dot.bytes_written, 4 * 64 * 48);
  EXPECT_EQ(loop.runs_on, "compiled code");
  EXPECT_EQ(loop.space, "[64, 48]");
  // The vector is read once for all rows.
  EXPECT_EQ(loop.bytes_read, 4 * (64 * 48 + 48));
  EXPECT_EQ(loop.bytes_written, 4 * 64 * 48);
  EXPECT_EQ(loop.flops, 2.0 * 64 * 48);
  ASSERT_EQ(loop.ops.size(), 2U);
  EXPECT_EQ(loop.ops[0].op, "add");
  EXPECT_EQ(loop.ops[1].op, "tanh");
  EXPECT_FALSE(r.seconds) << "nothing ran";
}

TEST_F(Explain, APartOfAnArrayCountsAsThatPart) {
  const GraphRef g = graph_of({f32({1000}), f32({50, 10})}, [](const Vals& p) -> Vals {
    const Dim start[] = {5}, limit[] = {15}, step[] = {1};
    const Val part = ops::slice(p[0], start, limit, step);
    return {ops::broadcast_to(part, p[1].type().shape()) * p[1]};
  });
  EXPECT_EQ(explained(g).kernels.at(0).bytes_read, 4 * (10 + 50 * 10));
}

TEST_F(Explain, SizesAreGivenOrMissing) {
  const Symbol n = Symbol::fresh("n");
  const auto bound = cpu::cpu_backend().compile(layer(n))->bind({});
  const Report r = bound->explain({.inputs = {}, .dims = {{n.id(), 10}}});
  EXPECT_THAT(r.sizes, ::testing::ElementsAre("n = 10"));
  EXPECT_EQ(r.kernels[0].space, "10x32x48");
  try {
    bound->explain({});
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("TL-SHAPE-004: f: nothing gives the size n"));
  }
}

/// Sizes may be anything where one of them is 0, or nothing runs.
TEST_F(Explain, SizesMayBeBeyondAllNumbers) {
  const std::int64_t large = std::int64_t{1} << 40;
  const Report product =
      explained(graph_of({f32({0, 0}), f32({0, large, large})}, [](const Vals& p) -> Vals {
        return {ops::dot_general(p[0], p[1], {{}, {}, {1}, {0}})};
      }));
  EXPECT_EQ(product.kernels[0].space, "0x0x1.21e+24");
  // Counting what padding leaves of so many products would not end.
  ops::ConvAttrs wide = ops::plain_convolution(1);
  wide.low = wide.high = {large};
  const GraphRef g = graph_of({f32({1, 1, 4}), f32({1, 1, large})}, [&](const Vals& p) -> Vals {
    return {ops::convolution(p[0], p[1], wide)};
  });
  const Report conv = explained(g);
  const auto kernel = std::ranges::find(conv.kernels, "matrix kernel", &KernelReport::runs_on);
  ASSERT_NE(kernel, conv.kernels.end());
  EXPECT_FALSE(kernel->flops);
}

/// A report on sizes that no run accepts would be one on nothing.
TEST_F(Explain, SizesThatNoRunAcceptsAreRefused) {
  const Symbol n = Symbol::fresh({.name = "n", .lower = 4, .upper = 8, .multiple_of = 4});
  const Symbol m = Symbol::fresh("m");
  const auto bound =
      cpu::cpu_backend()
          .compile(graph_of({f32({n}), f32({m}), f32({Dim(m) - 2})},
                            [](const Vals& p) -> Vals { return {p[0] + p[1], p[2]}; }))
          ->bind({});
  auto refusal = [&](std::int64_t of_n, std::int64_t of_m) -> std::string {
    try {
      bound->explain({.inputs = {}, .dims = {{n.id(), of_n}, {m.id(), of_m}}});
    } catch (const UserError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refusal(8, 8), "");
  EXPECT_THAT(refusal(12, 12),
              HasSubstr("TL-SHAPE-005: f: n = 12 (axis 0 of argument 0) is above"));
  EXPECT_THAT(refusal(6, 6), HasSubstr("is not a multiple of 4"));
  EXPECT_THAT(refusal(4, 1), HasSubstr("TL-SIZE-001: f: the size m-2 of f32[m-2] is -1"));
  EXPECT_THAT(refusal(4, 8), HasSubstr("TL-SHAPE-001"));
}

TEST_F(Explain, WhatHasNoKernelSaysWhy) {
  const GraphRef crop = graph_of({f32({8})}, [](const Vals& p) -> Vals {
    const Dim low[] = {-1}, zero[] = {0};
    return {ops::pad(p[0], ops::scalar(0, DType::f32), low, zero, zero)};
  });
  const Report r = explained(crop);
  EXPECT_THAT(r.kernels, Contains(Field(&KernelReport::runs_on, "reference")));
  EXPECT_THAT(r.text(), HasSubstr("it may crop, which its kernel does not do"));
  // Elements without code: precompiled, in a program that is compiled.
  const GraphRef power = graph_of({Type::get(DType::i32, {100})},
                                  [](const Vals& p) -> Vals { return {ops::pow(p[0], p[0])}; });
  const Report h = explained(power);
  EXPECT_EQ(h.code, "compiled code");
  EXPECT_EQ(h.kernels[0].runs_on, "precompiled kernel");
  EXPECT_EQ(h.kernels[0].reason, "pow has no code for these elements");
  // A program that is not compiled says that once.
  const Report once = explained(
      layer(4),
      {numbers(DType::f32, {4, 32}), numbers(DType::f32, {32, 48}), numbers(DType::f32, {48})},
      false);
  EXPECT_EQ(once.code, "precompiled kernels");
  EXPECT_EQ(once.reason, "it runs once");
  EXPECT_EQ(once.kernels[1].runs_on, "precompiled kernel");
}

TEST_F(Explain, KernelsAreTimedWhereverTheyRun) {
  const std::vector<HostArray> args{numbers(DType::f32, {64, 32}), numbers(DType::f32, {32, 48}),
                                    numbers(DType::f32, {48})};
  for (bool compiled : {true, false}) {
    const Report r = explained(layer(64), args, compiled);
    double sum = 0;
    for (const KernelReport& k : r.kernels) {
      ASSERT_EQ(k.calls, 1) << k.name;
      sum += k.seconds.value_or(0);
      EXPECT_GT(k.roofline.value_or(0), 0) << k.name;
    }
    EXPECT_GT(sum, 0);
    // The best of each kernel is no more than the best of all together.
    EXPECT_LE(sum, *r.timed_seconds);
    EXPECT_GT(r.ceilings->flops_f32, r.ceilings->flops_f64);
  }
}

TEST_F(Explain, CallsOfALoopAreCounted) {
  const GraphRef g = graph_of({f64({100})}, [](const Vals& p) -> Vals {
    return {ops::fori_loop(integer(7), {p[0]},
                           [](const Vals& c) -> Vals { return {ops::sin(c[1]) * c[1]}; })[0]};
  });
  for (bool compiled : {true, false}) {
    const Report r = explained(g, {numbers(DType::f64, {100})}, compiled);
    const auto k = std::ranges::find_if(r.kernels, [](const KernelReport& k) {
      return std::ranges::any_of(k.ops, [](const auto& o) { return o.op == "sin"; });
    });
    ASSERT_NE(k, r.kernels.end());
    EXPECT_EQ(k->calls, 7);
  }
}

TEST_F(Explain, SmallKernelsArePartOfTheCodeAroundThem) {
  const GraphRef g =
      graph_of({f64()}, [](const Vals& p) -> Vals { return {ops::sin(p[0]) * p[0]}; });
  const Report r = explained(g, {HostArray::scalar(2.0)});
  ASSERT_EQ(r.kernels.size(), 1U);
  EXPECT_EQ(r.kernels[0].calls, 0);
  EXPECT_FALSE(r.kernels[0].seconds);
  EXPECT_THAT(r.kernels[0].reason, HasSubstr("a part of the code around it"));
}

/// A sink fails where compiled code can't.
TEST_F(Explain, ASinkMayFail) {
  struct Sink final : runtime::ProfileSink {
    void record(const runtime::ProfileEvent&) override { throw std::runtime_error("full"); }
  } sink;
  for (bool compiled : {true, false}) {
    const auto e = cpu::cpu_backend().compile(layer(64), {.run_once = !compiled});
    runtime::RunOptions options;
    options.profile = &sink;
    std::vector<runtime::Buffer> args;
    args.emplace_back(numbers(DType::f32, {64, 32}));
    args.emplace_back(numbers(DType::f32, {32, 48}));
    args.emplace_back(numbers(DType::f32, {48}));
    EXPECT_THROW(e->run(args, options), std::runtime_error) << compiled;
  }
}

TEST_F(Explain, JsonHasTheSame) {
  const std::string json = explained(layer(64)).json();
  EXPECT_THAT(json, HasSubstr("\"flops\": 196608"));
  EXPECT_THAT(json, HasSubstr("\"seconds\": null"));
}

/// What attention computes in is scratch too; other threads' is named, not counted.
TEST_F(Explain, ScratchIsOneThreads) {
  const Type x = f32({4, 600, 32});
  const GraphRef g = graph_of(
      {x, x, x}, [](const Vals& p) -> Vals { return {ops::attention(p[0], p[1], p[2], {}, {})}; });
  const std::int64_t threads = cpu::num_threads();
  cpu::set_num_threads(1);
  const Report alone = explained(g);
  cpu::set_num_threads(3);
  const Report three = explained(g);
  cpu::set_num_threads(threads);
  // The scores of 96 queries and 96 keys at least.
  EXPECT_GE(alone.scratch_bytes, 4 * 96 * 96);
  EXPECT_EQ(alone.predicted_peak, alone.arena_bytes + alone.result_bytes + alone.scratch_bytes);
  EXPECT_EQ(three.scratch_bytes, alone.scratch_bytes);
  EXPECT_EQ(three.threads, 3);
  const auto others = HasSubstr("MiB scratch), up to as much scratch for each other thread\n");
  EXPECT_THAT(three.text(), others);
  EXPECT_THAT(alone.text(), ::testing::Not(others));
}

// Sanitizers have memory of their own beside the program's.
#ifndef TLALOC_SANITIZED
/// Arrays of 12 MB, a gradient, results as large: some live at one time, some after another.
TEST_F(Explain, PredictsThePeak) {
  const std::int64_t n = 1500;
  const GraphRef g = graph_of({f32({n, 2000}), f32({2000, 1000})}, [](const Vals& p) -> Vals {
    const Val h = ops::tanh(ops::matmul(p[0], p[1]));
    const Val back = ops::matmul(h, ops::transpose(p[1], std::vector<std::int64_t>{1, 0}));
    return {back * p[0], h};
  });
  const Report r =
      explained(g, {numbers(DType::f32, {n, 2000}), numbers(DType::f32, {2000, 1000})});
  ASSERT_TRUE(r.measured_peak) << r.peak_reason;
  EXPECT_GT(r.predicted_peak, 16'000'000);
  EXPECT_NEAR(static_cast<double>(*r.measured_peak), static_cast<double>(r.predicted_peak),
              0.05 * static_cast<double>(r.predicted_peak));
}
#endif

}  // namespace
}  // namespace tlaloc::testing
