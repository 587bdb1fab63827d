// Every ISA that this machine runs: blocks of any bits decode as the op table has it, products of
// small numbers are exact.
#include "tlaloc/cpu/quant_kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/ops/quant_blocks.h"

namespace tlaloc::cpu {
namespace {

std::mt19937 bits(11);

std::vector<std::uint8_t> any_blocks(const ir::Encoding& e, std::int64_t count) {
  std::vector<std::uint8_t> v(usize(count * e.block_bytes));
  for (std::uint8_t& b : v) b = static_cast<std::uint8_t>(bits());
  return v;
}
/// Scales and least values of 1, 2 or 4.
void make_exact(const ir::Encoding& e, std::vector<std::uint8_t>& blocks) {
  for (std::size_t at = 0; at < blocks.size(); at += usize(e.block_bytes)) {
    const auto power = static_cast<float>(1 << bits() % 3);
    if (e.name == "q8_32") {
      std::memcpy(&blocks[at], &power, sizeof power);
      continue;
    }
    const Half half(power);
    std::memcpy(&blocks[at], &half, sizeof half);
    if (e.name.ends_with("_1")) std::memcpy(&blocks[at + 2], &half, sizeof half);
  }
}
std::vector<float> decoded(const ir::Encoding& e, const std::vector<std::uint8_t>& blocks) {
  std::vector<float> r;
  for (std::size_t at = 0; at < blocks.size(); at += usize(e.block_bytes)) {
    float out[32];
    ops::decode_block(e, &blocks[at], out);
    r.insert(r.end(), out, out + 32);
  }
  return r;
}

void check(const ir::Encoding& e) {
  const QuantKernels& kernels = quant_kernels(e.name);
  const std::int64_t count = 1 + bits() % 9;
  auto blocks = any_blocks(e, count);
  std::vector<float> out(usize(count * 32)), wanted = decoded(e, blocks);
  kernels.decode(blocks.data(), count, out.data());
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_TRUE(std::isnan(wanted[i]) ? std::isnan(out[i])
                                      : std::memcmp(&out[i], &wanted[i], 4) == 0)
        << e.name << ": " << out[i] << " where " << wanted[i] << " is expected";
  }

  make_exact(e, blocks);
  wanted = decoded(e, blocks);
  constexpr std::int64_t kApart = 3;
  const std::int64_t row = count * 32 + 7;
  std::vector<float> x(usize(QuantKernels::kRows * row));
  for (float& v : x) v = static_cast<float>(bits() % 15) - 7;
  for (int rows = 1; rows <= QuantKernels::kRows; ++rows) {
    std::vector<float> sums(usize(rows * kApart), 99);
    kernels.dots[rows - 1](blocks.data(), count, x.data(), row, sums.data(), kApart);
    for (std::int64_t r = 0; r < rows; ++r) {
      float sum = 0;
      for (std::size_t k = 0; k < wanted.size(); ++k) sum += x[usize(r * row) + k] * wanted[k];
      ASSERT_EQ(sums[usize(r * kApart)], sum) << e.name << ", " << rows << " rows";
    }
  }
}

TEST(QuantKernels, AgreeWithTheFormatsOnEveryIsa) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (const char* name : {"q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "q8_32"}) {
      for (int i = 0; i < 100 && !::testing::Test::HasFailure(); ++i) {
        check(*ir::find_encoding(name));
      }
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace
}  // namespace tlaloc::cpu
