// Conversions of f16 on every ISA that this machine runs, against Half's own: all of f16, f32 at
// steps, and those next to where results change.
#include "tlaloc/cpu/half_kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <vector>

#include "tlaloc/base/checked.h"

namespace tlaloc::cpu {
namespace {

TEST(HalfKernels, AgreeWithHalfOnEveryIsa) {
  std::vector<Half> halves;
  std::vector<float> floats;
  for (std::uint32_t bits = 0; bits < 1 << 16; ++bits) {
    halves.push_back(std::bit_cast<Half>(static_cast<std::uint16_t>(bits)));
    // Halfway to the next one, and its neighbours.
    const auto at = std::bit_cast<std::uint32_t>(static_cast<float>(halves.back()));
    for (std::uint32_t off : {0U, 0xfffU, 0x1000U, 0x1001U}) {
      floats.push_back(std::bit_cast<float>(at + off));
    }
  }
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 4099) {
    floats.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
  for (std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    std::vector<float> wide(halves.size());
    half_kernels().widen(wide.data(), halves.data(), static_cast<std::int64_t>(wide.size()));
    for (std::size_t i = 0; i < wide.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint32_t>(wide[i]),
                std::bit_cast<std::uint32_t>(static_cast<float>(halves[i])))
          << std::hex << i;
    }
    std::vector<Half> narrow(floats.size());
    half_kernels().narrow(narrow.data(), floats.data(), static_cast<std::int64_t>(floats.size()));
    for (std::size_t i = 0; i < floats.size(); ++i) {
      ASSERT_EQ(std::bit_cast<std::uint16_t>(narrow[i]),
                std::bit_cast<std::uint16_t>(Half(floats[i])))
          << std::hex << std::bit_cast<std::uint32_t>(floats[i]);
    }
    // Short arrays, and nothing beyond their ends.
    for (std::int64_t n = 0; n < 40; ++n) {
      std::vector<float> y(usize(n) + 1, 7.0F);
      std::vector<Half> z(usize(n) + 1, Half(7.0F));
      half_kernels().widen(y.data(), halves.data() + 1000, n);
      half_kernels().narrow(z.data(), y.data(), n);
      for (std::size_t i = 0; i < usize(n); ++i) {
        ASSERT_EQ(y[i], static_cast<float>(halves[1000 + i]));
        ASSERT_EQ(static_cast<float>(z[i]), y[i]);
      }
      ASSERT_EQ(y[usize(n)], 7.0F);
      ASSERT_EQ(static_cast<float>(z[usize(n)]), 7.0F);
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace
}  // namespace tlaloc::cpu
