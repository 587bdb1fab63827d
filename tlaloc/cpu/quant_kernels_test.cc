// Every ISA that this machine runs: blocks of any bits decode as the op table has it.
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
#include "tlaloc/ops/quant_testing.h"

namespace tlaloc::cpu {
namespace {

std::mt19937 bits(11);

std::vector<std::uint8_t> any_blocks(const ir::Encoding& e, std::int64_t count) {
  std::vector<std::uint8_t> v(usize(count * e.block_bytes));
  for (std::uint8_t& b : v) b = static_cast<std::uint8_t>(bits());
  return v;
}
std::vector<float> decoded(const ir::Encoding& e, const std::vector<std::uint8_t>& blocks) {
  std::vector<float> r;
  for (std::size_t at = 0; at < blocks.size(); at += usize(e.block_bytes)) {
    std::vector<float> out(usize(e.block_elements));
    ops::decode_block(e, &blocks[at], out);
    r.insert(r.end(), out.begin(), out.end());
  }
  return r;
}

void check(const ir::Encoding& e) {
  const std::int64_t count = 1 + bits() % 9;
  const auto blocks = any_blocks(e, count);
  const std::vector<float> wanted = decoded(e, blocks);
  std::vector<float> out(usize(count * e.block_elements));
  block_decoder(e.name)(blocks.data(), usize(count), out.data());
  for (std::size_t i = 0; i < out.size(); ++i) {
    ASSERT_TRUE(std::isnan(wanted[i]) ? std::isnan(out[i])
                                      : std::memcmp(&out[i], &wanted[i], 4) == 0)
        << e.name << ": " << out[i] << " where " << wanted[i] << " is expected";
  }
}

TEST(QuantKernels, AgreeWithTheFormatsOnEveryIsa) {
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    for (const char* name : ops::testing::kEncodings) {
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
