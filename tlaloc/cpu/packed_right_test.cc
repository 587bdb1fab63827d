// Packed right sides on every ISA that this machine runs: products with them have the bits of
// products with their elements in f32 where those lie, for any number of rows and threads.
#include "tlaloc/cpu/packed_right.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/gemm.h"
#include "tlaloc/cpu/scratch.h"
#include "tlaloc/ops/quant_blocks.h"
#include "tlaloc/ops/quant_testing.h"

namespace tlaloc::cpu {
namespace {

using Size = std::int64_t;

template <class F>
void on_each_target(const F& f) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    f();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// A right side [k, n], stored by columns, and the same as floats.
struct Right {
  Packing packing;
  Size k, n;
  std::vector<std::uint8_t> stored;
  std::vector<float> wide;  ///< [n][k]
};

template <class T>
Right halves(Packing packing, Size k, Size n, std::mt19937& random) {
  Right r{packing, k, n, std::vector<std::uint8_t>(usize(2 * k * n)), {}};
  std::normal_distribution<float> normal;
  for (Size i = 0; i < k * n; ++i) {
    const T x(normal(random));
    std::memcpy(&r.stored[usize(2 * i)], &x, 2);
    r.wide.push_back(static_cast<float>(x));
  }
  return r;
}

/// Blocks of any elements, with small scales and least values.
Right blocks(const char* name, Size k, Size n, std::mt19937& random) {
  const ir::Encoding& e = *ir::find_encoding(name);
  Right r{packing_of(e), k, n, {}, {}};
  std::normal_distribution<float> normal;
  for (Size b = 0; b < n * k / e.block_elements; ++b) {
    std::vector<std::uint8_t> block(usize(e.block_bytes));
    for (std::uint8_t& x : block) x = static_cast<std::uint8_t>(random());
    const float scale = normal(random), least = normal(random);
    ops::testing::set_scales(e, block.data(), scale, least);
    std::vector<float> wide(usize(e.block_elements));
    ops::decode_block(e, block.data(), wide);
    r.wide.insert(r.wide.end(), wide.begin(), wide.end());
    r.stored.insert(r.stored.end(), block.begin(), block.end());
  }
  return r;
}

void expect_bits(const std::vector<float>& have, const std::vector<float>& want, Size m) {
  ASSERT_EQ(have.size(), want.size());
  EXPECT_EQ(std::memcmp(have.data(), want.data(), 4 * have.size()), 0) << m << " rows";
}

void check(const Right& right, std::mt19937& random) {
  const Size k = right.k, n = right.n;
  SCOPED_TRACE(packing_name(right.packing) + (", " + std::to_string(k)) + " x " +
               std::to_string(n));
  constexpr Size kMost = 130;
  std::normal_distribution<float> normal;
  std::vector<float> x(usize(kMost * k));
  for (float& v : x) v = normal(random);
  const Scratch packed(packed_bytes(right.packing, k, n)), scratch(gemm_scratch_bytes(DType::f32));
  if (right.packing < Packing::q8_0) {
    pack_right(right.packing, k, n, right.stored.data(), 1, k, packed.get());
  } else {
    pack_blocks(right.packing, k, n, right.stored.data(), packed.get());
  }
  for (const Size m : {1, 2, 3, 4, 5, 7, 12, 13, 64, 130}) {
    for (const bool accumulate : {false, m == 5}) {
      std::vector<float> want(usize(m * n), 0.5F), have = want, shared = want;
      Gemm g{DType::f32,          m,         n, k, {x.data(), k, 1}, {right.wide.data(), 1, k},
             {want.data(), n, 1}, accumulate};
      gemm(g, scratch.get());
      g.b = {};
      g.packed_b = {right.packing, packed.get()};
      g.c.data = have.data();
      gemm(g, scratch.get());
      expect_bits(have, want, m);
      g.c.data = shared.data();
      g.shared = true;
      gemm(g, scratch.get());
      expect_bits(shared, want, m);
    }
  }
}

TEST(PackedRight, HasTheBitsOfItsElementsInF32) {
  const std::int64_t threads = num_threads();
  const double alone = alone_nanoseconds();
  set_num_threads(3);
  set_alone_nanoseconds(0);
  on_each_target([] {
    std::mt19937 random(1);
    for (const auto& [k, n] : {std::pair<Size, Size>{1, 1}, {33, 70}, {576, 200}, {1100, 333}}) {
      check(halves<Half>(Packing::f16, k, n, random), random);
      check(halves<BFloat16>(Packing::bf16, k, n, random), random);
    }
    for (const char* name : ops::testing::kEncodings) {
      for (const auto& [least, n] : {std::pair<Size, Size>{32, 1}, {576, 70}, {1120, 203}}) {
        const Size k = ops::testing::whole_blocks(*ir::find_encoding(name), least);
        check(blocks(name, k, n, random), random);
      }
    }
  });
  set_num_threads(threads);
  set_alone_nanoseconds(alone);
}

/// Subnormal numbers, infinities and NaN.
TEST(PackedRight, WidensAllHalves) {
  on_each_target([] {
    for (const Packing packing : {Packing::f16, Packing::bf16}) {
      constexpr Size kAll = 1 << 16;
      std::vector<std::uint16_t> all(kAll);
      for (Size i = 0; i < kAll; ++i) all[usize(i)] = static_cast<std::uint16_t>(i);
      const Scratch packed(packed_bytes(packing, 1, kAll)), scratch(gemm_scratch_bytes(DType::f32));
      pack_right(packing, 1, kAll, all.data(), 1, 1, packed.get());
      const std::vector<float> ones(20, 1);
      for (const Size m : {1, 20}) {  // widened where they are used, and before
        std::vector<float> y(usize(m * kAll));
        gemm({.dtype = DType::f32,
              .m = m,
              .n = kAll,
              .k = 1,
              .a = {ones.data(), 1, 1},
              .b = {},
              .c = {y.data(), kAll, 1},
              .packed_b = {packing, packed.get()}},
             scratch.get());
        for (Size i = 0; i < kAll; ++i) {
          Half h;
          BFloat16 b;
          h.bits = b.bits = all[usize(i)];
          const float want =
              packing == Packing::f16 ? static_cast<float>(h) : static_cast<float>(b);
          // A sum that starts at 0 has no negative zero.
          const float have = y[usize((m - 1) * kAll + i)];
          ASSERT_TRUE(have == want || (have != have && want != want)) << i;
        }
      }
    }
  });
}

}  // namespace
}  // namespace tlaloc::cpu
