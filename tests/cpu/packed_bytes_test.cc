// Where a process may keep 300,000 bytes of packed right sides: one of two.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <string>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/cpu_backend.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::cpu {
namespace {

using ir::Val;
using runtime::Buffer;

HostArray numbers(DType t, Extents extents) {
  HostArray a(t, std::move(extents));
  dispatch(t, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<ComputeType<T>>) {
      std::int64_t n = 0;
      for (T& x : a.as_mutable<T>()) x = T(static_cast<float>(n++ % 13) - 6);
    }
  });
  return a;
}

TEST(PackedBytes, WhatHasNoRoomIsReadWhereItLies) {
  const std::int64_t k = 256;
  for (const DType t : {DType::f32, DType::bf16}) {
    const std::int64_t n = t == DType::f32 ? 256 : 512;
    ir::Builder b("f");
    const Val w = b.param(ir::Type::get(t, {k, n})), x = b.param(ir::Type::get(DType::f32, {3, k}));
    const auto g = b.build(ir::Vals{ops::matmul(x, ops::convert(w, DType::f32))});
    const HostArray weights = numbers(t, {k, n}), rows = numbers(DType::f32, {3, k});
    const auto executable = cpu_backend().compile(g);
    const auto want = executable->run({Buffer(weights), Buffer(rows)}).outputs[0].to_host();
    // The kernel that multiplies, which may follow a copy of what it reads.
    const auto kernel = [&](const runtime::Bound& bound) {
      const HostArray have = bound.run({Buffer(rows)}, {}).outputs[0].to_host();
      EXPECT_EQ(std::memcmp(have.data(), want.data(), want.bytes()), 0);
      return bound.explain({}).kernels.back();
    };
    auto first = executable->bind({{0, Buffer(weights)}});
    const auto second = executable->bind({{0, Buffer(weights)}});
    EXPECT_EQ(kernel(*first).runs_on, "matrix kernel, right side packed once");
    EXPECT_EQ(kernel(*first).reason, "");
    EXPECT_EQ(kernel(*second).runs_on, "matrix kernel");
    EXPECT_EQ(kernel(*second).reason, "no room to keep its right side packed");
    first.reset();
    const auto third = executable->bind({{0, Buffer(weights)}});
    EXPECT_EQ(kernel(*third).runs_on, "matrix kernel, right side packed once");
  }
}

}  // namespace
}  // namespace tlaloc::cpu
