// Right sides of products that are bound: packed once, with the bits of any other run.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/control.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::GraphRef;
using ir::Val;
using runtime::Buffer;

HostArray noise(DType dtype, Extents extents, std::uint64_t seed) {
  HostArray a = HostArray::uninitialized(dtype, std::move(extents));
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    for (std::int64_t i = 0; i < a.size(); ++i)
      static_cast<T*>(a.mutable_data())[i] = static_cast<T>(static_cast<float>(normal(random)));
  });
  return a;
}

/// x [rows, 3, k] with the last `k` columns of w [k, n] or [n, k], whole or from the third on.
GraphRef product(DType t, std::int64_t k, std::int64_t n, bool turned, bool cut) {
  ir::Builder b("f");
  const Dim rows = ir::Symbol::fresh("rows");
  const Val w = b.param(ir::Type::get(t, turned ? std::vector<Dim>{n, k} : std::vector<Dim>{k, n}));
  const Val x = b.param(ir::Type::get(t, {rows, 3, k}));
  const Dim start[] = {2, 2}, limit[] = {turned ? n : k, turned ? k : n};
  Val right = cut ? ops::slice(w, start, limit) : w;
  Val left = x;
  if (cut) {
    const Dim first[] = {0, 0, 0}, last[] = {rows, 3, k - 2};
    left = ops::slice(x, first, last);
  }
  return b.build(ir::Vals{
      ops::dot_general(left, right, {.lhs_contract = {2}, .rhs_contract = {turned ? 1 : 0}})});
}

std::string runs_on(const runtime::Bound& bound, const HostArray& x) {
  runtime::ExplainOptions options;
  const std::vector<const HostArray*> inputs{&x};
  options.inputs = inputs;
  std::string all;
  for (const auto& kernel : bound.explain(options).kernels) all += kernel.runs_on + ";";
  return all;
}

TEST(Bound, GivesTheBitsOfWhatIsNotBound) {
  for (DType t : {DType::f32, DType::f64, DType::bf16}) {
    for (const bool turned : {false, true}) {
      for (const bool cut : {false, true}) {
        const std::int64_t k = 700, n = 333;
        const GraphRef g = product(t, k, n, turned, cut);
        const HostArray w = noise(t, turned ? Extents{n, k} : Extents{k, n}, 1);
        const auto executable = cpu_backend().compile(g);
        const auto bound = executable->bind({{0, Buffer(w)}});
        for (const std::int64_t rows : {1, 2, 5, 0, 40, 200}) {
          const HostArray x = noise(t, {rows, 3, k}, static_cast<std::uint64_t>(rows));
          const auto want = executable->run({Buffer(w), Buffer(x)}).outputs[0].to_host();
          for (int again = 0; again < 2; ++again) {
            const auto have = bound->run({Buffer(x)}, {}).outputs[0].to_host();
            ASSERT_EQ(have.bytes(), want.bytes());
            EXPECT_EQ(std::memcmp(have.data(), want.data(), want.bytes()), 0)
                << name(t) << turned << cut << rows;
          }
        }
        const HostArray x = noise(t, {2, 3, k}, 9);
        EXPECT_NE(runs_on(*bound, x).find("packed once"), std::string::npos);
      }
    }
  }
}

/// Of 16 bits, for products in f32: they are packed as they are, and never lie in memory as f32.
TEST(Bound, HalvesThatProductsWidenStayHalves) {
  for (DType t : {DType::f16, DType::bf16}) {
    for (const bool turned : {false, true}) {
      const std::int64_t k = 700, n = 333;
      ir::Builder b("f");
      const Dim rows = ir::Symbol::fresh("rows");
      const Val w = b.param(ir::Type::get(t, {n, k})),
                x = b.param(ir::Type::get(DType::f32, {rows, k}));
      Val right = ops::convert(w, DType::f32);
      if (turned) right = ops::transpose(right, std::vector<std::int64_t>{1, 0});
      const GraphRef g = b.build(ir::Vals{
          ops::dot_general(x, right, {.lhs_contract = {1}, .rhs_contract = {turned ? 0 : 1}})});
      const HostArray weights = noise(t, {n, k}, 1);
      const auto executable = cpu_backend().compile(g);
      const auto bound = executable->bind({{0, Buffer(weights)}});
      for (const std::int64_t m : {1, 3, 4, 5, 64, 200}) {
        const HostArray y = noise(DType::f32, {m, k}, 2);
        const auto want = executable->run({Buffer(weights), Buffer(y)}).outputs[0].to_host();
        const auto have = bound->run({Buffer(y)}, {}).outputs[0].to_host();
        EXPECT_EQ(std::memcmp(have.data(), want.data(), want.bytes()), 0) << m;
      }
      runtime::ExplainOptions options;
      const HostArray y = noise(DType::f32, {1, k}, 2);
      const std::vector<const HostArray*> inputs{&y};
      options.inputs = inputs;
      const auto report = bound->explain(options);
      ASSERT_EQ(report.kernels.size(), 1u);
      EXPECT_EQ(report.kernels[0].runs_on, "matrix kernel, right side packed once");
      std::int64_t kept = 0;
      for (const auto& m : report.memory) {
        EXPECT_LT(*m.bytes, 4 * k * n) << m.name;
        if (m.kind == "kept") kept += *m.bytes;
      }
      EXPECT_GE(kept, 2 * k * n);
    }
  }
}

std::string kernels_of(const runtime::Bound& bound, const HostArray& x, std::int64_t* kept) {
  runtime::ExplainOptions options;
  const std::vector<const HostArray*> inputs{&x};
  options.inputs = inputs;
  const auto report = bound.explain(options);
  *kept = 0;
  for (const auto& m : report.memory) {
    if (m.kind == "kept") *kept += *m.bytes;
  }
  EXPECT_EQ(report.kept_bytes, *kept);
  std::string all;
  for (const auto& kernel : report.kernels) all += kernel.name + ";";
  return all;
}

/// x (a convert(b)), a and b bound: what is left is one product; also with a second product that
/// reads convert(b) itself.
TEST(Bound, ProductsOfBoundHalvesAreComputedOnce) {
  for (const bool twice : {false, true}) {
    ir::Builder b("f");
    const Val a = b.param(ir::Type::get(DType::f32, {256, 300})),
              halves = b.param(ir::Type::get(DType::bf16, {300, 256})),
              x = b.param(ir::Type::get(DType::f32, {1, twice ? 300 : 256}));
    const Val right = ops::convert(halves, DType::f32);
    const Val left = twice ? ops::matmul(x, right) : x;
    const GraphRef g = b.build(ir::Vals{ops::matmul(left, ops::matmul(a, right))});
    const HostArray w = noise(DType::f32, {256, 300}, 1), h = noise(DType::bf16, {300, 256}, 2),
                    y = noise(DType::f32, {1, twice ? 300 : 256}, 3);
    const auto executable = cpu_backend().compile(g);
    const auto bound = executable->bind({{0, Buffer(w)}, {1, Buffer(h)}});
    std::int64_t kept = 0;
    EXPECT_EQ(kernels_of(*bound, y, &kept), twice ? "dot_general;dot_general;" : "dot_general;");
    const auto want = executable->run({Buffer(w), Buffer(h), Buffer(y)}).outputs[0].to_host();
    const auto have = bound->run({Buffer(y)}, {}).outputs[0].to_host();
    EXPECT_EQ(std::memcmp(have.data(), want.data(), want.bytes()), 0);
  }
}

/// What is too small or too narrow to be packed is widened once, when it is bound.
TEST(Bound, HalvesThatAreNotPackedAreWidenedOnce) {
  for (const std::int64_t n : {20, 1}) {
    const std::int64_t k = n == 1 ? 200000 : 60;
    ir::Builder b("f");
    const Val w = b.param(ir::Type::get(DType::f16, {k, n})),
              x = b.param(ir::Type::get(DType::f32, {2, k}));
    const GraphRef g = b.build(ir::Vals{ops::matmul(x, ops::convert(w, DType::f32))});
    const auto bound = cpu_backend().compile(g)->bind({{0, Buffer(noise(DType::f16, {k, n}, 1))}});
    std::int64_t kept = 0;
    EXPECT_EQ(kernels_of(*bound, noise(DType::f32, {2, k}, 2), &kept), "dot_general;");
    EXPECT_EQ(kept, 0);
  }
}

/// Not by the first run, which a user waits for.
TEST(Bound, BindingPacks) {
  for (const bool halves : {false, true}) {
    const std::int64_t k = 300, n = 200;
    const GraphRef g = product(halves ? DType::bf16 : DType::f32, k, n, false, false);
    HostArray w = noise(halves ? DType::bf16 : DType::f32, {k, n}, 1);
    const HostArray x = noise(w.dtype(), {2, 3, k}, 2);
    const auto keep_alive = std::make_shared<int>();
    void* const memory = w.mutable_data();
    const auto executable = cpu_backend().compile(g);
    const auto want = executable->run({Buffer(w), Buffer(x)}).outputs[0].to_host();
    const auto bound =
        executable->bind({{0, Buffer(HostArray::external(w.dtype(), {k, n}, memory, keep_alive))}});
    std::memset(memory, 0, w.bytes());
    const auto have = bound->run({Buffer(x)}, {}).outputs[0].to_host();
    EXPECT_EQ(std::memcmp(have.data(), want.data(), want.bytes()), 0);
  }
}

/// Packing costs as much as the products of several rows.
TEST(Bound, WhatRunsOncePacksNothing) {
  const GraphRef g = product(DType::f32, 300, 200, false, false);
  const HostArray w = noise(DType::f32, {300, 200}, 1), x = noise(DType::f32, {2, 3, 300}, 2);
  for (const bool once : {false, true}) {
    const auto bound = cpu_backend().compile(g, {.run_once = once})->bind({{0, Buffer(w)}});
    std::int64_t kept = 0;
    kernels_of(*bound, x, &kept);
    EXPECT_EQ(kept > 0, !once);
  }
}

TEST(Bound, NarrowMatricesAreReadWhereTheyLie) {
  for (const std::int64_t n : {1, 3, 64}) {
    const std::int64_t k = 50000;
    const GraphRef g = product(DType::f32, k, n, false, false);
    const auto bound = cpu_backend().compile(g)->bind({{0, Buffer(noise(DType::f32, {k, n}, 1))}});
    std::int64_t kept = 0;
    kernels_of(*bound, noise(DType::f32, {1, 3, k}, 2), &kept);
    EXPECT_EQ(kept > 0, n == 64) << kept;
    EXPECT_LE(kept, 4 * k * n * 5 / 4);
  }
}

/// Unrolled steps with one matrix; its transpose and its first rows are others.
TEST(Bound, AMatrixOfManyProductsIsPackedOnce) {
  ir::Builder b("f");
  const Val w = b.param(ir::Type::get(DType::f32, {256, 256})),
            x = b.param(ir::Type::get(DType::f32, {2, 256}));
  Val h = x;
  for (int step = 0; step < 5; ++step) h = ops::tanh(ops::matmul(h, w));
  const Val turned = ops::dot_general(h, w, {.lhs_contract = {1}, .rhs_contract = {1}});
  const GraphRef g = b.build(ir::Vals{h, turned});
  const HostArray weights = noise(DType::f32, {256, 256}, 1), y = noise(DType::f32, {2, 256}, 2);
  const auto executable = cpu_backend().compile(g);
  const auto bound = executable->bind({{0, Buffer(weights)}});
  std::int64_t kept = 0;
  kernels_of(*bound, y, &kept);
  EXPECT_GE(kept, 2 * 4 * 256 * 256);
  EXPECT_LT(kept, 3 * 4 * 256 * 256);
  const auto want = executable->run({Buffer(weights), Buffer(y)}).outputs;
  const auto have = bound->run({Buffer(y)}, {}).outputs;
  for (std::size_t k = 0; k < 2; ++k) {
    const HostArray p = want[k].to_host(), q = have[k].to_host();
    EXPECT_EQ(std::memcmp(p.data(), q.data(), p.bytes()), 0) << k;
  }
}

TEST(Bound, SmallOnesAndThoseOfOtherRunsAreReadWhereTheyLie) {
  const GraphRef small = product(DType::f32, 30, 20, false, false);
  const HostArray w = noise(DType::f32, {30, 20}, 1), x = noise(DType::f32, {4, 3, 30}, 2);
  EXPECT_EQ(runs_on(*cpu_backend().compile(small)->bind({{0, Buffer(w)}}), x), "matrix kernel;");
  // Both bindings have their own.
  const GraphRef g = product(DType::f32, 300, 200, false, false);
  const auto executable = cpu_backend().compile(g);
  const HostArray a = noise(DType::f32, {300, 200}, 3), b = noise(DType::f32, {300, 200}, 4);
  const HostArray y = noise(DType::f32, {4, 3, 300}, 5);
  const auto with_a = executable->bind({{0, Buffer(a)}}),
             with_b = executable->bind({{0, Buffer(b)}});
  for (int i = 0; i < 2; ++i) {
    for (const auto& [bound, w] : {std::pair(with_a, a), std::pair(with_b, b)}) {
      const auto have = bound->run({Buffer(y)}, {}).outputs[0].to_host();
      const auto want = executable->run({Buffer(w), Buffer(y)}).outputs[0].to_host();
      EXPECT_EQ(std::memcmp(have.data(), want.data(), want.bytes()), 0);
    }
  }
}

TEST(Bound, APartThatMovesIsNotPacked) {
  // The rows of w from `rows` on: another matrix for each size.
  ir::Builder b("f");
  const Dim rows = ir::Symbol::fresh("rows");
  const Val w = b.param(ir::Type::get(DType::f32, {400, 200}));
  const Val x = b.param(ir::Type::get(DType::f32, {rows, 300}));
  const Dim start[] = {rows, 0}, limit[] = {rows + 300, 200};
  const Val part = ops::slice(w, start, limit);
  const GraphRef g =
      b.build(ir::Vals{ops::dot_general(x, part, {.lhs_contract = {1}, .rhs_contract = {0}})});
  const HostArray weights = noise(DType::f32, {400, 200}, 1);
  const auto executable = cpu_backend().compile(g);
  const auto bound = executable->bind({{0, Buffer(weights)}});
  for (const std::int64_t n : {1, 7, 50}) {
    const HostArray y = noise(DType::f32, {n, 300}, 2);
    const auto have = bound->run({Buffer(y)}, {}).outputs[0].to_host();
    const auto want = interp::run(*g, std::vector<HostArray>{weights, y})[0];
    for (std::int64_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(have.as<float>()[usize(i)], want.as<float>()[usize(i)], 1e-3) << n;
  }
}

TEST(Bound, LayersOfALoopAreNotOne) {
  const std::int64_t layers = 4, width = 200;
  ir::Builder b("f");
  const Val w = b.param(ir::Type::get(DType::f32, {layers, width, width}));
  const Val x = b.param(ir::Type::get(DType::f32, {3, width}));
  const GraphRef g = b.build(ops::scan({x}, {w}, [](const ir::Vals& v) -> ir::Vals {
                               return {ops::operator*(ops::matmul(v[0], v[1]), 0.07)};
                             }).carries);
  const HostArray weights = noise(DType::f32, {layers, width, width}, 1);
  const HostArray y = noise(DType::f32, {3, width}, 2);
  const auto bound = cpu_backend().compile(g)->bind({{0, Buffer(weights)}});
  const auto have = bound->run({Buffer(y)}, {}).outputs[0].to_host();
  const auto want = interp::run(*g, std::vector<HostArray>{weights, y})[0];
  for (std::int64_t i = 0; i < want.size(); ++i)
    ASSERT_NEAR(have.as<float>()[usize(i)], want.as<float>()[usize(i)], 1e-4) << i;
}

TEST(Bound, FirstRunsInSeveralThreadsPackOnce) {
  const GraphRef g = product(DType::f32, 500, 400, true, false);
  const HostArray w = noise(DType::f32, {400, 500}, 1), x = noise(DType::f32, {4, 3, 500}, 2);
  const auto executable = cpu_backend().compile(g);
  const auto want = executable->run({Buffer(w), Buffer(x)}).outputs[0].to_host();
  const auto bound = executable->bind({{0, Buffer(w)}});
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto have = bound->run({Buffer(x)}, {}).outputs[0].to_host();
      EXPECT_EQ(std::memcmp(have.data(), want.data(), want.bytes()), 0);
    });
  }
}

}  // namespace
}  // namespace tlaloc::cpu
