// The block formats of quantized values, as GGUF defines them.
//
// An array of an encoded type holds bytes: its dtype is u8 and its extents are those of the type,
// except that the last one, k elements, is k / block_elements * block_bytes bytes (storage_type).
// A block holds 32 neighbours of the last axis. With d and m as f16 (q8_32: d as f32),
// little-endian:
//   q8_0   d, 32 signed bytes q                          q * d
//   q8_32  d, 32 signed bytes q                          q * d
//   q4_0   d, 16 bytes                                   (q - 8) * d
//   q4_1   d, m, 16 bytes                                q * d + m
//   q5_0   d, 32 high bits, 16 bytes                     (q - 16) * d
//   q5_1   d, m, 32 high bits, 16 bytes                  q * d + m
// Byte j of 16 holds the low four bits of element j in its low half, of element j + 16 in its high
// half; high bit i is the fifth bit of element i.
#pragma once

#include <cstdint>
#include <span>

#include "tlaloc/ir/type.h"

namespace tlaloc::ops {

inline constexpr std::int64_t kBlockElements = 32;

/// The type of the array that holds values of type t: u8 bytes if t is encoded, t itself otherwise.
ir::Type storage_type(ir::Type t);

/// One block as floats.
void decode_block(const ir::Encoding& encoding, const std::uint8_t* block,
                  std::span<float, 32> out);
/// Rounds 32 floats to q8_32 and back: to multiples of max|x| / 127, halves away from zero.
void round_to_q8_32(std::span<float, 32> x);

}  // namespace tlaloc::ops
