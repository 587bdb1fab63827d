// Arrays of quantized values.
//
// An array of an encoded type holds bytes: its dtype is u8 and its extents are those of the type,
// except that the last one, k elements, is k / block_elements * block_bytes bytes (storage_type).
// What is in a block: base/block_formats.h.
#pragma once

#include <cstdint>
#include <span>

#include "tlaloc/ir/type.h"

namespace tlaloc::ops {

/// Of q8_32, which activations are rounded to.
inline constexpr std::int64_t kBlockElements = 32;

/// The type of the array that holds values of type t: u8 bytes if t is encoded, t itself otherwise.
ir::Type storage_type(ir::Type t);

/// One block as floats, as many as it has elements.
void decode_block(const ir::Encoding& encoding, const std::uint8_t* block, std::span<float> out);
/// Rounds 32 floats to q8_32 and back: to multiples of max|x| / 127, halves away from zero.
void round_to_q8_32(std::span<float, 32> x);

}  // namespace tlaloc::ops
