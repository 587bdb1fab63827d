// The block formats of quantized weights: GGUF's, and q8_32, which is q8_0 with its scale in f32.
//
// A block holds neighbours of a tensor's last axis. What lies where is said beside each decoder in
// block_formats.cc; formats: ggml-common.h and ggml-quants.c of llama.cpp. All numbers are
// little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tlaloc {

/// What a block says before it is multiplied out: element i is
/// q[i] * scales[i / elements] - leasts[i / elements], to the bits that decode gives.
struct BlockParts {
  int elements = 0;  ///< of a part
  float scales[16], leasts[16];
  std::int8_t q[256];
};

struct BlockFormat {
  std::string_view name;  ///< "q4_k", ...
  int elements, bytes;    ///< of a block
  /// Blocks that lie behind each other as floats, to the bits that the gguf package gives.
  void (*decode)(const std::uint8_t* from, std::size_t blocks, float* out);
  /// One block; nullptr for formats that are read as they are, or not computed with.
  void (*split)(const std::uint8_t* from, BlockParts& out);
};

/// nullptr where there is none of that name.
const BlockFormat* find_block_format(std::string_view name);

/// As Half's conversion, without a branch, so that loops of it become vectors: the bits as those of
/// a float are 2^-112 of the value, subnormals included.
inline float block_half(std::uint16_t h) {
  const float scaled =
      std::bit_cast<float>(static_cast<std::uint32_t>(h & 0x7fffu) << 13) * 0x1p112f;
  const std::uint32_t special = (h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0u;
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

}  // namespace tlaloc
