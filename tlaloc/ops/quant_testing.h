// For tests: blocks of quantized weights whose values are of a known size.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "tlaloc/ir/type.h"

namespace tlaloc::ops::testing {

/// All that a value may have.
inline constexpr std::array kEncodings{"q4_0", "q4_1", "q5_0", "q5_1", "q8_0",   "q8_32", "q2_k",
                                       "q3_k", "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs"};

/// A length of whole blocks, `least` at least.
inline std::int64_t whole_blocks(const ir::Encoding& e, std::int64_t least) {
  return (least + e.block_elements - 1) / e.block_elements * e.block_elements;
}

/// Sets the floats of a block: what scales it, and what is added to or taken off its elements where
/// the format has that. Blocks of parts have further scales, integers, which stay.
inline void set_scales(const ir::Encoding& e, std::uint8_t* block, float scale, float least) {
  if (e.name == "q8_32") {
    std::memcpy(block, &scale, sizeof scale);
    return;
  }
  const Half d(scale), m(least);
  std::uint8_t* const at = block + (e.name == "q2_k"   ? 80
                                    : e.name == "q3_k" ? 108
                                    : e.name == "q6_k" ? 208
                                                       : 0);
  std::memcpy(at, &d, sizeof d);
  if (e.name.ends_with("_1") || e.name == "q2_k" || e.name == "q4_k" || e.name == "q5_k") {
    std::memcpy(at + 2, &m, sizeof m);
  }
}

}  // namespace tlaloc::ops::testing
