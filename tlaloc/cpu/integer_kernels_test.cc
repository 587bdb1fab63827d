// Products by integers on every ISA that this machine runs: the bits that integer_kernels.h states,
// the same on all of them, for any rows and columns.
#include "tlaloc/cpu/integer_kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/integer_product.h"
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
    for (const bool dots : {false, true}) {
      if (dots && !has_dot_products()) {
        std::cout << "not run: dot products of bytes, which this processor does not have\n";
        continue;
      }
      SCOPED_TRACE(dots ? "dot products" : "no dot products");
      allow_dot_products(dots);
      f();
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

/// A block of a row, rounded.
struct Rounded {
  std::int32_t q[32];
  float scale;
  std::int32_t sum = 0;
};
Rounded rounded(const float* x) {
  float most = 0;
  for (int k = 0; k < 32; ++k) most = std::max(most, std::abs(x[k]));
  Rounded r{{}, most / 127};
  for (int k = 0; k < 32; ++k) {
    r.q[k] = static_cast<std::int32_t>(std::lround(x[k] / r.scale));
    r.sum += r.q[k];
  }
  return r;
}

struct Weights {
  Packing packing;
  Size k, n, block_bytes;
  std::vector<std::uint8_t> stored;
};
Weights drawn(const char* name, Size k, Size n, std::mt19937& random) {
  const ir::Encoding& e = *ir::find_encoding(name);
  Weights w{packing_of(e), k, n, e.block_bytes, {}};
  w.stored.resize(usize(n * k / 32 * e.block_bytes));
  for (std::uint8_t& b : w.stored) b = static_cast<std::uint8_t>(random());
  std::normal_distribution<float> normal;
  for (std::size_t at = 0; at < w.stored.size(); at += usize(e.block_bytes)) {
    const float scale = normal(random), least = normal(random);
    ops::testing::set_scales(e, &w.stored[at], scale, least);
  }
  return w;
}

float stated(const Weights& w, Size j, const float* x) {
  const bool has_least = w.packing == Packing::q4_1;
  float y = 0;
  for (Size b = 0; b < w.k / 32; ++b) {
    const std::uint8_t* block = &w.stored[usize((j * (w.k / 32) + b) * w.block_bytes)];
    Half half, least;
    float scale = 0;
    std::memcpy(&scale, block, 4);
    std::memcpy(&half.bits, block, 2);
    std::memcpy(&least.bits, block + 2, 2);
    if (w.packing != Packing::q8_32) scale = static_cast<float>(half);
    block += has_least || w.packing == Packing::q8_32 ? 4 : 2;
    const Rounded r = rounded(x + 32 * b);
    std::int32_t sum = 0;
    for (int k = 0; k < 32; ++k) {
      if (w.packing == Packing::q8_0 || w.packing == Packing::q8_32) {
        sum += r.q[k] * static_cast<std::int8_t>(block[k]);
      } else {
        const std::int32_t q = k < 16 ? block[k] & 15 : block[k - 16] >> 4;
        sum += r.q[k] * (has_least ? q : q - 8);
      }
    }
    y += static_cast<float>(sum) * (scale * r.scale);
    if (has_least) y += static_cast<float>(least) * (r.scale * static_cast<float>(r.sum));
  }
  return y;
}

TEST(IntegerKernels, HaveTheStatedBitsOnEveryIsa) {
  on_each_target([] {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (const char* name : {"q4_0", "q4_1", "q8_0", "q8_32"}) {
      for (const auto& [k, n] : {std::pair<Size, Size>{32, 1}, {96, 70}, {576, 203}}) {
        const Weights w = drawn(name, k, n, random);
        const Scratch packed(packed_bytes(w.packing, k, n));
        pack_blocks(w.packing, k, n, w.stored.data(), packed.get());
        for (const Size m : {1, 2, 3, 4, 5, 6, 7, 13, 250}) {
          if (m > 13 && k > 96) continue;
          std::vector<float> x(usize(m * k));
          for (float& v : x) v = normal(random);
          std::vector<float> y(usize(m * (n + 1)), 99);
          const IntegerProduct::Side side{{w.packing, packed.get()}, n, y.data(), n + 1};
          multiply_by_integers({m, k, x.data(), {&side, 1}});
          for (Size i = 0; i < m; ++i) {
            for (Size j = 0; j < n; ++j) {
              ASSERT_EQ(y[usize(i * (n + 1) + j)], stated(w, j, &x[usize(i * k)]))
                  << name << ": row " << i << " of " << m << ", column " << j << " of " << n;
            }
            ASSERT_EQ(y[usize(i * (n + 1) + n)], 99);
          }
        }
      }
    }
  });
}

/// Also of blocks with subnormal scales, zeros, infinities and NaN.
TEST(IntegerKernels, RoundAsTheOpDoes) {
  on_each_target([] {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    const IntegerKernels& kernels = *integer_kernels(Packing::q4_0);
    for (int trial = 0; trial < 300; ++trial) {
      const float size = std::ldexp(1.0F, static_cast<int>(random() % 270) - 149);
      float x[32], want[32];
      for (float& v : x) v = size * normal(random);
      for (int k = 0; k < 8 && trial % 3 == 0; ++k) x[k] = size * (static_cast<float>(k) + 0.5F);
      if (trial % 3 == 0) x[9] = 127 * size;
      if (trial % 7 == 0) x[5] = 0;
      if (trial == 1) std::fill_n(x, 32, -0.0F);
      std::copy_n(x, 32, want);
      ops::round_to_q8_32(want);
      constexpr Size kRows = 3;
      std::int32_t words[kRows * IntegerKernels::kWords];
      kernels.round(x, 1, 1, kRows, words);
      float scale;
      std::memcpy(&scale, &words[8 * kRows + 1], 4);
      std::int32_t sum = 0;
      for (int k = 0; k < 32; ++k) {
        std::int8_t four[4];
        std::memcpy(four, &words[k / 4 * kRows + 1], 4);
        sum += four[k % 4];
        ASSERT_EQ(static_cast<float>(four[k % 4]) * scale, want[k]) << x[k];
      }
      ASSERT_EQ(words[9 * kRows + 1], sum);
    }
    for (const float special : {HUGE_VALF, -HUGE_VALF, std::nanf("")}) {
      for (int place : {0, 17, 31}) {
        float x[32] = {1, 2};
        x[place] = special;
        std::int32_t words[IntegerKernels::kWords];
        kernels.round(x, 1, 0, 1, words);
        float scale;
        std::memcpy(&scale, &words[8], 4);
        EXPECT_TRUE(std::isnan(scale));
      }
    }
  });
}

}  // namespace
}  // namespace tlaloc::cpu
