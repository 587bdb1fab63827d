// Decodes blocks of quantized weights; internal to cpu. One kernel per kind of CPU and encoding
// with blocks of 32; others are decoded as everywhere.
#pragma once

#include <string_view>

#include "tlaloc/base/block_formats.h"

namespace tlaloc::cpu {

/// The elements of `count` blocks behind each other, with the bits of ops::decode_block.
using DecodeBlocks = decltype(BlockFormat::decode);

/// Of an encoding, for the CPU this runs on.
DecodeBlocks block_decoder(std::string_view encoding);

}  // namespace tlaloc::cpu
